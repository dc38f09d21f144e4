"""Small samples of tasks in their files' formats, and settings to tune with."""

import json

SETTINGS = {
    **{"epochs": 1, "batch": 4, "learning_rates": [0.001], "warmup": 0.1, "weight_decay": 0.01},
    **{"precision": "float32", "length": 30, "span_length": 30, "stride": 5, "folds": 3},
}
QQP_HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"
MRPC_HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
MNLI_HEADER = "index\tgenre\tsentence1\tsentence2\tlabel1\tgold_label"
STSB_HEADER = "index\tgenre\tsentence1\tsentence2\tscore"
SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"


def write(folder, name, header, rows):
    """Write a file of rows with tabs between fields, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [*([header] if header else []), *("\t".join(map(str, row)) for row in rows)]
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def qqp(folder, pairs=(("a", "b", 1), ("c", "d", 0)), part="train"):
    """Write a part of QQP."""
    rows = [(n, 2 * n, 2 * n + 1, *pair) for n, pair in enumerate(pairs)]
    return write(folder, f"{part}.tsv", QQP_HEADER, rows)


def sick(folder, count=12):
    """Write SICK, as SentEval has it; the classes take turns."""
    labels = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
    for number, name in enumerate(("SICK_train", "SICK_trial", "SICK_test_annotated")):
        rows = [
            (n, f"the cat {number} {n}", f"a dog {number} {n}", 3.2, labels[n % 3])
            for n in range(count)
        ]
        write(folder, f"{name}.txt", SICK_HEADER, rows)


def stsb_dev(folder, count=12):
    """Write the development part of STS Benchmark, in its own format."""
    rows = [
        ("g", "f", "2015", n, n % 6, f"the cat sees {n}", f"a dog likes {n}") for n in range(count)
    ]
    return write(folder, "sts-dev.csv", None, rows)


PASSAGE = "the old cat sees a small dog and the big bird likes the tree and a house ."


def squad(folder, train=None, dev=None):
    """Write SQuAD 2.0: by default one question with an answer and one without in each part."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, given in (("train", train), ("dev", dev)):
        questions = given or [
            question(f"{name}-1", "the cat sees ?", ("a small dog", PASSAGE.index("a small"))),
            question(f"{name}-2", "the cat likes ?"),
        ]
        article = {"title": "t", "paragraphs": [{"context": PASSAGE, "qas": questions}]}
        text = json.dumps({"version": "v2.0", "data": [article]})
        (folder / f"{name}-v2.0.json").write_text(text, encoding="utf-8")


def question(number, text, *answers):
    """Return a question as SQuAD 2.0 has it."""
    return {
        "id": number,
        "question": text,
        "is_impossible": not answers,
        "answers": [{"text": answer, "answer_start": start} for answer, start in answers],
    }
