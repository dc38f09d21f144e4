import random

import pytest

POSITIVE = ["good film", "fine film", "great story", "lovely plot", "sweet cast"]
NEGATIVE = ["bad film", "poor film", "dull story", "awful plot", "sour cast"]
KINDS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
JUDGMENTS = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
MRPC_HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sentences(words, count, seed):
    """Return sentences of one class: one of its phrases with filling words around it."""
    drawn = random.Random(seed)
    filling = ["the", "a", "of", "and", "in", "it", "this"]
    return [
        " ".join([*drawn.choices(filling, k=drawn.randint(0, 4)), drawn.choice(words)])
        for _ in range(count)
    ]


def write_senteval(root, rows=24):
    """Write all ten tasks in SentEval's layout, each of which can be learnt."""
    for name, (positive, negative) in {
        "MR": ("rt-polarity.pos", "rt-polarity.neg"),
        "CR": ("custrev.pos", "custrev.neg"),
        "SUBJ": ("subj.objective", "subj.subjective"),
        "MPQA": ("mpqa.pos", "mpqa.neg"),
    }.items():
        write(root / name / positive, "\n".join(sentences(POSITIVE, rows, 1)) + "\n")
        write(root / name / negative, "\n".join(sentences(NEGATIVE, rows, 2)) + "\n")
    for seed, part in enumerate(("train", "dev", "test")):
        good, bad = sentences(POSITIVE, rows, seed), sentences(NEGATIVE, rows, seed + 10)
        binary = [f"{each}\t1\n" for each in good] + [f"{each}\t0\n" for each in bad]
        write(root / f"SST/binary/sentiment-{part}", "".join(binary))
        five = [f"{place % 5} class{place % 5} {each}\n" for place, each in enumerate(good + bad)]
        write(root / f"SST/fine/sentiment-{part}", "".join(five))
    for name in ("train_5500.label", "TREC_10.label"):
        lines = [
            f"{kind}:sub what {kind.lower()} is it {n}\n" for kind in KINDS for n in range(rows)
        ]
        write(root / "TREC" / name, "".join(lines))
    for part in ("train", "test"):
        pairs = [
            f"{n % 2}\t{n}\t{n}\tthe {'cat' if n % 2 else 'dog'} runs {n}\tthe cat runs {n}\n"
            for n in range(2 * rows)
        ]
        write(root / f"MRPC/msr_paraphrase_{part}.txt", MRPC_HEADER + "".join(pairs))
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"):
        pairs = [_sick_line(n) for n in range(2 * rows)]
        write(root / "SICK" / name, SICK_HEADER + "".join(pairs))
    return root


def _sick_line(number):
    common = number % 5
    first = ["w0", "w1", "w2", "w3", f"x{number % 7}"]
    second = [*first[:common], *(f"y{place}" for place in range(5 - common))]
    grade = 1 + common + (0.5 if number % 2 else 0.0)
    judgment = JUDGMENTS[min(2, common // 2)]
    return f"{number}\t{' '.join(first)}\t{' '.join(second)}\t{min(grade, 5)}\t{judgment}\n"


@pytest.fixture
def senteval(tmp_path):
    return write_senteval(tmp_path / "senteval")
