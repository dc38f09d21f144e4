"""A micro bitext in text files, a configuration whose run takes a minute, and one of all stages.

Such small models write nonsense; everything around them is the real pipeline. No candidate is
pruned and a quantile of them is kept, so that there are paraphrases whatever the models learn.
"""

import hashlib
import os
import random
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from tests import stanza_package
from tests.configs import ROOT
from tests.configs import merged as merged
from tests.unit.transfer.conftest import write_senteval

Pair = tuple[str, str]

_SUBJECTS = [
    ("Starý muž", "The old man"),
    ("Mladá žena", "The young woman"),
    ("Můj bratr", "My brother"),
    ("Naše učitelka", "Our teacher"),
    ("Malý chlapec", "The little boy"),
    ("Jeho sestra", "His sister"),
    ("Nový soused", "The new neighbour"),
    ("Každý žák", "Every pupil"),
    ("Ta dívka", "That girl"),
    ("Unavený řidič", "The tired driver"),
]
_VERBS = [
    ("vidí", "sees"),
    ("hledá", "is looking for"),
    ("kupuje", "buys"),
    ("má rád", "likes"),
    ("prodává", "sells"),
    ("nese", "carries"),
    ("popisuje", "describes"),
    ("kreslí", "draws"),
    ("fotí", "photographs"),
]
_OBJECTS = [
    ("velký dům", "a big house"),
    ("červené auto", "a red car"),
    ("starou knihu", "an old book"),
    ("tři jablka", "three apples"),
    ("bílého koně", "a white horse"),
    ("dlouhý dopis", "a long letter"),
    ("kočku", "the cat"),
    ("psa", "the dog"),
    ("12 obrazů", "12 pictures"),
    ("modrý kabát", "a blue coat"),
    ("staré hodiny", "the old clock"),
]
_PLACES = [
    ("na trhu", "at the market"),
    ("ve škole", "at school"),
    ("v parku", "in the park"),
    ("před domem", "in front of the house"),
    ("u řeky", "by the river"),
    ("každý den", "every day"),
    ("v neděli", "on Sunday"),
    ("s úsměvem", "with a smile"),
]
_PARTS = (_SUBJECTS, _VERBS, _OBJECTS, _PLACES)
MEANINGS = len(_SUBJECTS) * len(_VERBS) * len(_OBJECTS) * len(_PLACES)

# A file beside the corpora: words and their paraphrases.
WORD_LIST = "words.txt"
_PARAPHRASES = ["sees watches", "buys purchases gets", "park garden", "house home", "likes loves"]

# Without its programs and its module the run has no column of a language model.
HAS_KENLM = find_spec("kenlm") and shutil.which(
    "lmplz", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"
)

# Corpora by name: how many pairs each takes from the shuffled meanings.
PAPERS = ["bt2017", "paranmt", "parabank", "parabank2"]
MAX_SUM = 5.0  # far from both: clean pairs are below 4, noise is above 6
SYNTAX = {
    "folder": str(stanza_package.FOLDER),
    "package": stanza_package.PACKAGE,
    "levels": 3,
    "share": 1.0,
}
SIZES = {"train": 420, "held_out": 24, "dev": 30, "test": 30, "web": 60}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def pair(meaning: int) -> Pair:
    """Return source and reference of one of the `MEANINGS` meanings."""
    chosen = []
    for part in _PARTS:
        meaning, index = divmod(meaning, len(part))
        chosen.append(part[index])
    source, reference = (" ".join(side) for side in zip(*chosen, strict=True))
    return f"{source}.", f"{reference}."


def bitext(seed: int = 1) -> dict[str, list[Pair]]:
    """Return the pairs of every corpus; no two pairs have the same meaning."""
    meanings = random.Random(seed).sample(range(MEANINGS), sum(SIZES.values()))
    corpora, first = {}, 0
    for name, size in SIZES.items():
        corpora[name] = [pair(meaning) for meaning in meanings[first : first + size]]
        first += size
    return corpora


def scrambled(pairs: Sequence[Pair], seed: int = 1) -> list[Pair]:
    """Return the pairs as noise: the characters of each reference are in random order."""
    order = random.Random(seed)
    return [
        (source, "".join(order.sample(reference, len(reference)))) for source, reference in pairs
    ]


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_pairs(folder: Path, name: str, pairs: Sequence[Pair]) -> None:
    """Write `<name>.cs` and `<name>.en`."""
    write_lines(folder / f"{name}.cs", [source for source, _ in pairs])
    write_lines(folder / f"{name}.en", [reference for _, reference in pairs])


def write_bitext(folder: Path) -> Path:
    """Write the word list, and all corpora as text files; every third pair of `web` is noise."""
    folder.mkdir(parents=True)
    write_lines(folder / WORD_LIST, _PARAPHRASES)
    corpora = bitext()
    corpora["web"][::3] = scrambled(corpora["web"][::3])
    for name, pairs in corpora.items():
        write_pairs(folder, name, pairs)
    write_graded(folder / "graded.tsv", [reference for _, reference in corpora["dev"]])
    write_ratings(folder / "ratings.tsv")
    words = {word for _, reference in corpora["train"] for word in reference.lower().split()}
    draw = random.Random(1)
    vectors = [f"{word.rstrip('.')} {draw.random():.3f} -0.5" for word in sorted(words)]
    write_lines(folder / "vectors.txt", vectors)
    sentences = [reference for _, reference in corpora["train"]]
    outside = [f"{one}\t{other}" for one, other in pairwise(sentences[:20])]
    write_lines(folder / "outside.tsv", [*outside, "one side alone"])
    write_labels(folder / "labels.tsv", corpora["dev"])
    write_senteval(folder / "senteval")
    return folder


def write_graded(path: Path, sentences: list[str]) -> None:
    """Write an STS data set: each sentence with the next, scored by how many words they share."""
    pairs = zip(sentences, sentences[1:] + sentences[:1], strict=True)
    lines = (
        f"{len(set(first.split()) & set(second.split()))}\t{first}\t{second}\n"
        for first, second in pairs
    )
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def write_ratings(path: Path) -> None:
    """Write what two people might say of paraphrases of the first references."""
    columns = ("worker_id_anon", "ref_id", "ref_len", "sys_id", "candidate", "human_score", "gm")
    rows = [
        (who, f"train:{number}", 9, "micro", "A sentence.", 10 * number, 2)
        for who in ("a", "b")
        for number in range(1, 9)
    ]
    write_lines(path, ["\t".join(map(str, row)) for row in (columns, *rows)])


def write_labels(path: Path, pairs: list[Pair]) -> None:
    """Write labels for a judge: what says the same in other words is good, noise is bad."""
    lines = ["id\tsource\treference\tparaphrase\tforward_nll\tbackward_nll\tlabel"]
    for number, (pair, noise) in enumerate(zip(pairs, scrambled(pairs), strict=True)):
        source, reference = pair
        for text, label in ((reference.lower(), "good"), (noise[1], "bad")):
            lines.append(f"{number}\t{source}\t{reference}\t{text}\t\t\t{label}")
    write_lines(path, lines)


def text_corpus(name: str, **more: Any) -> dict[str, Any]:
    """Return the block of a corpus that `write_bitext` wrote."""
    return {"source": f"{name}.cs", "reference": f"{name}.en", **more}


def config(data: Path) -> dict[str, Any]:
    """Return the micro run on the bitext in `data`, as an override of config.yaml.

    Whatever the defaults there become, this run stays the same.
    """
    return {
        "data": str(data),
        "seed": 1,
        "languages": {
            "source": {"code": "cs", "charset": "latin-2"},
            "reference": {"code": "en", "charset": "latin-1"},
        },
        "run": {
            "name": "micro",
            "corpora": ["train", "held_out"],
            "systems": ["micro"],
            "outside": ["given"],
            "training_sets": ["half", "short"],
            "embeddings": ["tiny"],
            "rewriters": ["plain"],
        },
        "outside": {"given": {"tsv": "outside.tsv"}},
        "shards": {"early": 2, "late": 1},
        "corpora": {
            name: text_corpus(name, **({"trusted": True} if name == "train" else {}))
            for name in SIZES
        },
        "clean": {
            "max_line_bytes": 20000,
            "min_words": 1,
            "max_words": 100,
            "max_ratio": 3.0,
            "drop_copies": True,
        },
        "dual_filter": {"enabled": False, "method": "sum"},
        "subword": {
            "model_type": "unigram",
            "vocab_size": {"source": 90, "reference": 90},
            "coverage": 0.9999,
            "split_digits": True,
            "samples": 2,
            "nbest": 8,
            "alpha": 0.1,
        },
        "train": {
            "corpora": ["train"],
            "dev": "dev",
            "test": "test",
            "models": dict.fromkeys(
                ("forward", "backward", "filter_forward", "filter_backward"), "micro"
            ),
        },
        "models": {
            "micro": {
                "encoder_layers": 1,
                "decoder_layers": 1,
                "size": 32,
                "feed_forward": 64,
                "heads": 2,
                "dropout": 0.1,
                "label_smoothing": 0.0,
                "batch_words": 512,
                "max_updates": 120,
                "checkpoint_updates": 30,
                "learning_rate": 0.01,
                "warmup": 10,
                "schedule": "linear-decay",
                "patience": None,
                "max_length": 60,
            }
        },
        "generate": {"corpora": None, "limit": {"train": 8, "held_out": 8}},
        "systems": {
            "micro": {
                "search": {"method": "sample", "k": 5, "samples": 4, "temperature": 1.0},
                "constraints": {
                    "kind": "negative",
                    "choose": "random",
                    "sets": 2,
                    "fraction": [0.0, 0.4],
                },
                "score": {"prune_above": None},
                "select": {
                    "method": "cluster",
                    "clusters": 3,
                    "best": 2,
                    "keep": {"quantile": 0.7},
                },
            }
        },
        "columns": {
            "fluency": {"language_model": {"order": 2, "corpora": ["train"]}},
            "score": {"vectors": {"file": "vectors.txt"}},
            "told": {
                "classifier": {
                    **{"network": "lstm", "size": 8, "vocabulary": 50, "pairs": 30},
                    **{"validation": 0.3, "epochs": 1, "batch": 10, "learning_rate": 0.01},
                }
            },
        },
        "training_sets": {
            "half": {
                "bounds": {
                    "rank": [1, 2],
                    "told": [0, 1],
                    **({"fluency": [1, None]} if HAS_KENLM else {}),
                },
                "folds": {"column": "bleu_nakov", "of": 2, "keep": [1]},
            },
            "short": {"systems": ["given"], "bounds": {"paraphrase_words": [1, 30]}},
        },
        "embeddings": {
            "tiny": {
                "model": {"encoders": ["word", "blstm"], "dimension": 4, "hidden": 4},
                "training": {"epochs": 2, "batch": 10, "mega_batch": 2, "anneal": None},
                "seeds": [1, 2],
            },
        },
        "rewriters": {
            "plain": {
                "training_sets": ["half", "short"],
                "held_out": {"dev": 3, "test": 3},
                "vocab_size": 60,
                "model": "micro",
                "noise": {"copies": 2},
                "beam": 2,
            }
        },
        "sts": {"data": ["graded.tsv"], "testbed": None, "bootstrap": 50},
        "evaluate": {
            **{"bootstrap": 50, "pairs": 20, "columns": ["score", "told"]},
            "reference_scores": True,
            "ratings": {"file": "ratings.tsv", "min_judgments": 1},
        },
        "release": {"title": "Micro paraphrases", "licence": "cc0-1.0"},
        "compute": {"device": "cpu", "precision": "fp32", "train_threads": 1, "search_threads": 1},
    }


# Changes of that system: the 420 training references know few rare words.
PARABANK = {
    "constraints": {
        "idf": {"bounds": [2.0, 17.0]},
        "pairs": {"list": WORD_LIST},
        "variants": {"ppdb": {"kind": "pair", "choose": {"highest": 2}}},
    }
}
# What the micro run does without. What is trained learns from a whole list of candidates. The
# column `alike`, which starts a library for seconds, is made for one system alone.
_REST = {
    "run": {
        **{"name": "whole", "corpora": ["train", "web", "held_out"], "systems": PAPERS},
        **{"training_sets": ["half", "short", "heard", "close"]},
        **{"lexicons": ["phrases"], "encoders": ["pbert"]},
    },
    "clean": {"language_confidence": {"reference": 1e-6}},
    "dual_filter": {"enabled": True, "max_sum": MAX_SUM},
    "generate": {"corpora": ["train", "held_out"]},
    "systems": {
        "parabank": PARABANK,
        "parabank2": {
            "search": None,
            "searches": {
                "beam": {"method": "beam", "beam_size": 3, "nbest": 2},
                "samples": {"method": "sample", "k": 10, "samples": 4},
            },
            "constraints": {"searches": ["samples"]},
            "sources": {"written": 1},
            "select": {
                **{"method": "judged", "judge": "own"},
                "keep": {"quantile": None, "probability_quantile": 0.5},
            },
        },
    },
    "judges": {
        "own": {
            "labels": "labels.tsv",
            "features": ["overlap_1", "unknown_words", "backward_gain"],
        }
    },
    "columns": {
        "alike": {"feature": {"name": "cosine", "encoder": {"folder": "encoder/model"}}},
        "easier": {"feature": {"name": "forward_gain"}},
        "near": {"embedding": {"name": "tiny", "training_set": "half"}},
        "unheard": {"feature": {"name": "unknown_words"}},
    },
    "training_sets": {
        "half": {"systems": ["bt2017"]},
        "heard": {"systems": ["bt2017"], "bounds": {"unheard": [0, 0], "alike": [-1, None]}},
        "close": {"systems": ["bt2017"], "folds": {"column": "near", "of": 2, "keep": [2]}},
    },
    "embeddings": {"tiny": {"seeds": [1], "training_sets": ["half", "short"]}},
    "lexicons": {"phrases": {"training_sets": ["short"], "attested": False}},
    "transfer": {"data": ["senteval"], "tasks": ["CR", "SICK-R"], "folds": 3, "scaled": True},
    "encoders": {
        "pbert": {
            "training_set": "half",
            "embedding": {"name": "tiny", "training_set": "half"},
            "held_out": 0.3,
            "scratch": {
                **{"layers": 1, "hidden": 16, "heads": 2, "feed_forward": 32},
                **{"vocab_size": 100, "training": {"epochs": 1}},
            },
            "training": {"epochs": 1},
        }
    },
    "evaluate": {"syntax": SYNTAX, "columns": ["score", "easier"]},
}


def whole(data: Path) -> dict[str, Any]:
    """Return a run that has a unit of every stage, with the systems of all papers.

    In `data` must be an encoder of sentences besides.
    """
    quantile = yaml.safe_load((ROOT / "recipes" / "quantile.yaml").read_text(encoding="utf-8"))
    return merged(merged(config(data), quantile), _REST)
