"""What every stage makes of a fixed input: the figures in golden.json and how to make them.

python -m tests.e2e.golden [STAGE ...]     after raising the version of a stage

Each stage gets an input of its own that no other stage has made, so that a change of one stage
changes one entry. Texts, counts and structure are hashed; numbers, which differ from CPU to CPU in
their last digits, are summed up and compared with a tolerance. The models have fixed weights.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
import zstandard

from tests import stanza_package
from tests.e2e import micro
from tests.unit.nmt.folders import write_model
from workflow_scripts.clean import shard as clean
from workflow_scripts.core.layout import canonical
from workflow_scripts.core.manifest import write_record
from workflow_scripts.core.schema import defaults
from workflow_scripts.core.tables import TableWriter, read_rows
from workflow_scripts.corpus import importer
from workflow_scripts.dual_filter import keep
from workflow_scripts.dual_filter import scores as dual_filter_scores
from workflow_scripts.embed import compare, evaluation
from workflow_scripts.embed import train as embed
from workflow_scripts.embed.model import load
from workflow_scripts.evaluate import measures, statistics
from workflow_scripts.filter import (
    classify,
    columns,
    paraphrase_score,
    train_classifier,
    training_set,
)
from workflow_scripts.generate import candidates, idf, references, sample_references
from workflow_scripts.nmt.vocabulary import SYMBOLS
from workflow_scripts.release import checksums, export
from workflow_scripts.score import shard as score
from workflow_scripts.select import shard as select
from workflow_scripts.select import threshold
from workflow_scripts.stages import STAGES as DECLARED
from workflow_scripts.subword import segment
from workflow_scripts.subword import train as subword
from workflow_scripts.syntax import shard as syntax
from workflow_scripts.train import sockeye

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")
GOLDEN = Path(__file__).with_name("golden.json")
# A model's numbers on another CPU; those of a training diverge further, update by update.
TOLERANCE = 1e-3
TRAINING_TOLERANCE = 0.02

# References of the testbed, each with paraphrases that mean the same or not, in this order.
TESTBED = [
    ("The doctor bought the car.", "The car was bought by the doctor.", "The doctor bought a car."),
    ("Yesterday, the boy saw a dog.", "The boy saw a dog yesterday."),
    ("The teacher sent the doctor a letter.", "The teacher sent a letter to the doctor.", "No."),
    ("The dog did not sleep.", "The dog didn't sleep."),
    ("The book was really great.",),
]

VERSIONS = {stage.name: stage.version for stage in DECLARED}
Outputs = dict[str, Any]
Row = dict[str, Any]


# --- figures ---------------------------------------------------------------------------------


def figures(outputs: Outputs) -> dict[str, Any]:
    """Return the hash and the sums of the numbers of each output."""
    result = {}
    for name, value in outputs.items():
        numbers: list[float] = []
        structure = canonical(_without_numbers(value, numbers))
        result[name] = {"sha256": micro.digest(structure), **_sums(numbers)}
    return result


def _without_numbers(value: Any, numbers: list[float]) -> Any:
    if isinstance(value, dict):
        return {key: _without_numbers(value[key], numbers) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_without_numbers(each, numbers) for each in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        numbers.append(value)
        return "a number"
    return value


def _sums(numbers: list[float]) -> dict[str, float]:
    """Return the mean of some numbers, and one in which each counts by its place."""
    if not numbers:
        return {}
    weights = np.linspace(1, 2, len(numbers))
    return {
        "mean": round(float(np.mean(numbers)), 6),
        "weighted": round(float(np.mean(weights * numbers)), 6),
    }


def differences(stage: str, found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Return the names of the outputs that are not as they should be."""
    tolerance = TRAINING_TOLERANCE if stage in ("train", "embed") else TOLERANCE
    return [
        name
        for name in sorted(found.keys() | expected.keys())
        if not _agree(found.get(name), expected.get(name), tolerance)
    ]


def _agree(one: dict[str, Any] | None, other: dict[str, Any] | None, tolerance: float) -> bool:
    if one is None or other is None or one.keys() != other.keys():
        return False
    return one["sha256"] == other["sha256"] and all(
        math.isclose(one[key], other[key], rel_tol=tolerance, abs_tol=tolerance)
        for key in one.keys() - {"sha256"}
    )


# --- inputs ----------------------------------------------------------------------------------


def write_table(path: Path, schema: str, rows: Iterable[Row]) -> Path:
    with TableWriter(path, schema) as table:
        for row in rows:
            table.write(row)
    write_record(path, table.rows_written, table.rows_written, {})
    return path


def table(path: Path, schema: str) -> list[Row]:
    return list(read_rows(path, schema))


def counts(record: Path) -> Row:
    """Return a record without what depends on the file format and on installed versions."""
    content = json.loads(record.read_text(encoding="utf-8"))
    return {key: content[key] for key in content.keys() - {"files", "tools"}}


def pairs(corpus: str, count: int | None = None) -> list[Row]:
    """Return micro pairs as rows of the `pairs` schema."""
    return [
        {"id": f"{corpus}:{line}", "source": source, "reference": reference, "corpus": corpus}
        for line, (source, reference) in enumerate(micro.bitext()[corpus][:count], 1)
    ]


def arguments(config: Any, **options: Any) -> list[str]:
    """Spell a stage's command line."""
    words = ["--config", json.dumps(config)]
    for name, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return words


def sentence_model(path: Path, side: str) -> list[str]:
    """Train a SentencePiece model of single letters on the micro bitext; return its pieces."""
    sentences = [row[side] for row in pairs("train")]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_prefix=str(path.with_suffix("")),
        model_type="char",
        vocab_size=200,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    path.with_suffix(".vocab").unlink()
    write_record(path, 0, 0, {})
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [model.id_to_piece(index) for index in range(3, model.get_piece_size())]


def lone_segmenter(folder: Path) -> Path:
    """Write a folder that has of a model the references' sub-word model alone; return it."""
    path = folder / "reference.model"
    sentence_model(path, "reference")
    write_record(folder / "model", 0, 0, {}, files=[path])
    return folder


def fixed_model(folder: Path, given: str, target: str, seed: int) -> Path:
    """Write a Sockeye 3 model folder whose weights come from NumPy, as they do on every machine."""
    folder.mkdir(parents=True)
    pieces = {side: sentence_model(folder / f"{side}.model", side) for side in (given, target)}
    size = len(SYMBOLS) + max(map(len, pieces.values()))
    network = folder / "network"
    write_model(network, vocabulary=size, size=16, longest=70)
    for path in network.iterdir():
        path.rename(folder / path.name)
    network.rmdir()
    random = np.random.default_rng(seed)
    weights = torch.load(folder / "params.best", weights_only=True)
    for name in sorted(weights):
        if "pos_embedding" not in name:
            shape = tuple(weights[name].shape)
            spread = 0.4 if len(shape) > 1 else 0.05
            centre = 1.0 if name.endswith("layer_norm.weight") else 0.0
            weights[name] = torch.from_numpy(random.normal(centre, spread, shape)).float()
    weights["output_layer.weight"] = weights["embedding_target.embedding.weight"]
    # Sentences come to an end, and the vocabularies' padding is never written.
    weights["output_layer.bias"][SYMBOLS.index("</s>")] = 3.0
    weights["output_layer.bias"][len(SYMBOLS) + len(pieces[target]) :] = -30.0
    torch.save(weights, folder / "params.best")
    for name, side in (("vocab.src.0.json", given), ("vocab.trg.0.json", target)):
        entries = [*SYMBOLS, *pieces[side]]
        entries += [f"<unused{index}>" for index in range(len(entries), size)]
        text = json.dumps({piece: index for index, piece in enumerate(entries)})
        (folder / name).write_text(text, encoding="utf-8")
    write_record(folder / "model", 0, 0, {}, files=sorted(folder.iterdir()))
    return folder


# --- stages ----------------------------------------------------------------------------------


def corpus_outputs(folder: Path) -> Outputs:
    """Text files with bad lines, a TSV file with a header, and the testbed."""
    text = b"\n".join([b"Pes.\r", "Kočka".encode("iso8859-2"), b"", "Dům stojí.".encode(), b"A"])
    (folder / "a.cs").write_bytes(text)
    (folder / "a.en").write_bytes("Dog.\nCat.\nNothing.\nA house\u2026\nA".encode())
    (folder / "b.tsv").write_text("x\ten\tcs\n1\tOne.\tJedna.\n2\tTwo.\n", encoding="utf-8")
    blocks = {
        "text": {"source": [str(folder / "a.cs")], "reference": [str(folder / "a.en")]},
        "tsv": {
            "tsv": [str(folder / "b.tsv")],
            "columns": {"source": 2, "reference": 1},
            "header": True,
        },
        "testbed": {"testbed": {"first": 7, "count": 12, "noise": {"misaligned": 0.2}}},
    }
    outputs: Outputs = {}
    for name, block in blocks.items():
        config = {"name": name, "block": block, "shards": 2, "max_line_bytes": 200, "seed": 1}
        importer.main(arguments(config, output=folder / name))
        for shard in ("0000", "0001"):
            outputs[f"{name}/{shard}"] = table(folder / name / f"{shard}.parquet", "pairs")
        rejected = (folder / name / "rejected.tsv.zst").read_bytes()
        lines = zstandard.decompress(rejected, 1 << 20).decode("utf-8")
        outputs[f"{name}/rejected"] = lines.replace(str(folder), "")
    return outputs


def clean_outputs(folder: Path) -> Outputs:
    """Pairs with one fault each, and duplicates within and across corpora."""
    faulty = [
        ("Řekl: „Ahoj“.", "He said: \u201cHello\u201d\u2026"),
        ("Привет.", "Hello."),
        ("Ahoj.", "Hello \u4e16\u754c."),
        ("12 %", "12 %"),
        ("slovo " * 40, "word"),
        ("Krátká věta.", "A sentence that is far longer than its partner, by any measure of it."),
        ("Ta kopie.", "Ta kopie!"),
        ("Ahoj.", "Hello."),
        ("Dobrý den.", "Good day."),
        ("dobrý den", "Good day!"),
        ("Cafe\u0301 je tu.", "The cafe\u0301 is here."),
        ("Ano.\u00a0Ne.", "Yes.\u2003No."),
    ]
    rows = {
        "dev": pairs("dev", 6),
        "train": [*pairs("train", 10), *({**row, "corpus": "train"} for row in pairs("dev", 3))],
    }
    rows["train"] += [
        {"id": f"train:x{line}", "source": source, "reference": reference, "corpus": "train"}
        for line, (source, reference) in enumerate(faulty)
    ]
    config = {
        "charset": {"source": "latin-2", "reference": "latin-1"},
        "language": {"source": "cs", "reference": "en"},
        **{"min_words": 2, "max_words": 30, "max_ratio": 3.0, "drop_copies": True},
        "corpora": list(rows),
    }
    inputs = [write_table(folder / name / "0000.parquet", "pairs", rows[name]) for name in rows]
    clean.main(arguments(config, inputs=inputs, output=folder / "0000.parquet"))
    return {
        "pairs": table(folder / "0000.parquet", "pairs"),
        "record": counts(folder / "0000.json"),
    }


def dual_filter_outputs(folder: Path) -> Outputs:
    shard = write_table(folder / "0000.parquet", "pairs", [*pairs("train", 5), *pairs("web", 20)])
    dual_filter_scores.main(
        arguments(
            {"skip": ["train"], "precision": "fp32"},
            input=shard,
            forward=fixed_model(folder / "forward", "source", "reference", 1),
            backward=fixed_model(folder / "backward", "reference", "source", 2),
            output=folder / "scores.parquet",
            device="cpu",
        )
    )
    scored = table(folder / "scores.parquet", "pair_scores")
    fixed = [
        {"id": row["id"], "forward_nll": index / 8, "backward_nll": 2 - index / 10}
        for index, row in enumerate(scored)
    ]
    given = write_table(folder / "fixed.parquet", "pair_scores", fixed)
    outputs: Outputs = {"scores": scored, "scores_record": counts(folder / "scores.json")}
    for method, bound in (("sum", {"max_sum": 2.2}), ("cross_entropy", {"min_score": 0.2})):
        config = {"method": method, "max_sum": 3.5, **bound, "trusted": ["train"]}
        output = folder / f"{method}.parquet"
        keep.main(arguments(config, input=shard, scores=given, output=output))
        outputs[method] = table(output, "pairs")
        outputs[f"{method}_record"] = counts(output.with_suffix(".json"))
    return outputs


def subword_outputs(folder: Path) -> Outputs:
    rows = [*pairs("train"), *pairs("dev", 5), *pairs("test", 5), *pairs("web", 3)]
    write_table(folder / "0000.parquet", "pairs", rows)
    outputs: Outputs = {}
    for side, sentences in (("source", 10_000), ("reference", 300)):
        config = {
            **{"side": side, "model_type": "unigram", "vocab_size": 90, "coverage": 0.9999},
            **{"split_digits": True, "sentences": sentences, "corpora": ["train"], "seed": 1},
        }
        output = folder / f"{side}.model"
        subword.main(arguments(config, folder=folder, shards=1, output=output))
        model = sentencepiece.SentencePieceProcessor(model_file=str(output))
        outputs[side] = [
            [model.id_to_piece(index), model.get_score(index)]
            for index in range(model.get_piece_size())
        ]
        outputs[f"{side}_record"] = counts(output.with_suffix(".json"))
    # Its own model, so that the segments hold what the segmentation does and no more.
    models = {side: folder / "letters" / f"{side}.model" for side in ("source", "reference")}
    models["source"].parent.mkdir()
    for side, path in models.items():
        sentence_model(path, side)
    config = {
        **{"samples": 0, "nbest": 8, "alpha": 0.2, "model_type": "bpe", "seed": 1},
        **{"train": ["train"], "dev": "dev", "test": "test"},
    }
    for name, paths, more in (
        ("viterbi", models, {}),
        (
            "sampled",
            {side: folder / f"{side}.model" for side in models},
            {"samples": 2, "model_type": "unigram"},
        ),
    ):
        segment.main(
            arguments(
                config | more,
                input=folder / "0000.parquet",
                source_model=paths["source"],
                reference_model=paths["reference"],
                output=folder / name / "0000.parquet",
            )
        )
        outputs[name] = table(folder / name / "0000.parquet", "segments")
        outputs[f"{name}_record"] = counts(folder / name / "0000.json")
    return outputs


def train_outputs(folder: Path) -> Outputs:
    """Only what is the same everywhere is hashed; the perplexity is a number like others."""
    models = {side: folder / f"{side}.model" for side in ("source", "reference")}
    for side, path in models.items():
        sentence_model(path, side)
    spelt = {
        side: sentencepiece.SentencePieceProcessor(model_file=str(path))
        for side, path in models.items()
    }
    splits = (("train", 300), ("dev", 20), ("test", 5))
    write_table(
        folder / "0000.parquet",
        "segments",
        (
            {
                "id": row["id"],
                "split": split,
                "copy": 0,
                **{side: " ".join(spelt[side].encode_as_pieces(row[side])) for side in models},
            }
            for split, count in splits
            for row in pairs(split, count)
        ),
    )
    block = micro.config(folder)["models"]["micro"] | {"max_updates": 40, "checkpoint_updates": 20}
    sockeye.main(
        arguments(
            {"role": "forward", "direction": "forward", "model": block, "seed": 1},
            **{"folder": folder, "shards": 1, "threads": 1, "device": "cpu"},
            **{f"{side}_model": path for side, path in models.items()},
            work=folder / "work",
            output=folder / "model",
        )
    )
    metrics = json.loads((folder / "model" / "metrics.json").read_text(encoding="utf-8"))
    plan = json.loads((folder / "work" / "plan.json").read_text(encoding="utf-8"))
    return {
        "settings": plan["settings"],
        **{
            side: json.loads((folder / "model" / f"vocab.{side}.0.json").read_text("utf-8"))
            for side in ("src", "trg")
        },
        "counts": {key: metrics[key] for key in ("updates", "parameters", "segments")},
        "files": sorted(path.name for path in (folder / "model").iterdir()),
        "perplexity": metrics["validation_perplexity"],
    }


def generate_outputs(folder: Path) -> Outputs:
    rows = [*pairs("train", 30), *pairs("held_out", 20), *pairs("dev", 5)]
    shards = [
        write_table(folder / f"000{shard}.parquet", "pairs", rows[shard::2]) for shard in (0, 1)
    ]
    config = {"corpora": ["train", "held_out"], "limit": {"train": 5, "held_out": 3}, "seed": 1}
    sample = folder / "sample.json"
    sample_references.main(arguments(config, folder=folder, shards=2, output=sample))
    chosen = folder / "references" / "0000.parquet"
    references.main(arguments(config, sample=sample, inputs=shards, output=chosen))
    counted = folder / "idf" / "idf.parquet"
    idf.main(arguments({"corpora": ["train"]}, folder=folder, shards=2, output=counted))
    outputs: Outputs = {
        "references": table(chosen, "references"),
        "references_record": counts(chosen.with_suffix(".json")),
        "idf": table(counted, "document_frequencies"),
        "idf_record": counts(counted.with_suffix(".json")),
    }
    given = write_table(folder / "fixed.parquet", "references", pairs("held_out", 4))
    model = fixed_model(folder / "forward", "source", "reference", 1)
    words = folder / "words.txt"
    words.write_text("sees watches\nhouse home dwelling\nlikes loves\n", encoding="utf-8")
    for name, search, constraints in (
        (
            "samples",
            {"method": "sample", "k": 8, "samples": 4, "temperature": 0.8},
            {"kind": "negative", "choose": "random", "sets": 2, "fraction": [0.2, 0.6]},
        ),
        (
            "variants",
            {"method": "beam", "beam_size": 6, "nbest": 2},
            {
                "idf": {"bounds": [2.0, 17.0], "min_references": 2, "exempt": ["the", "at"]},
                "pairs": {"list": str(words)},
                "variants": {
                    "free": None,
                    "want": {"kind": "positive", "choose": {"random": 1}, "inflect": True},
                    "rare": {"kind": "negative", "choose": {"highest": 1, "lowest": 1}},
                    "start": {"kind": "negative", "choose": {"first": 1}},
                    "pair": {"kind": "pair", "choose": {"highest": 2}},
                },
            },
        ),
    ):
        config = {
            **{"system": "micro", "search": search, "constraints": constraints},
            **{"precision": "fp32", "seed": 1},
        }
        output = folder / name / "0000.parquet"
        options = {"input": given, "model": model, "output": output, "device": "cpu"}
        candidates.main(arguments(config, idf=counted, **options))
        outputs[name] = table(output, "candidates")
        outputs[f"{name}_record"] = counts(output.with_suffix(".json"))
    return outputs


def generated(count: int) -> list[Row]:
    """Return rows of the `candidates` schema: sentences of other pairs, some of them twice."""
    rows = pairs("held_out", count + 3)
    texts = [row["reference"] for row in rows]
    return [
        {
            **row,
            "sets": [{"set": 0, "variant": "v0", "avoid": ["the"], "want": []}],
            "dropped": 1,
            "blocked": 0,
            "unmet": 0,
            "candidates": [
                {
                    "set": 0,
                    "sample": sample,
                    "variant": f"v{sample % 2}",
                    "text": texts[(number + sample % 4) % len(texts)],
                    "forward_nll": 1.5 + 0.25 * (sample + number % 3),
                }
                for sample in range(7)
            ],
        }
        for number, row in enumerate(rows[:count])
    ]


def score_outputs(folder: Path) -> Outputs:
    given = write_table(folder / "candidates.parquet", "candidates", generated(6))
    model = fixed_model(folder / "backward", "reference", "source", 2)
    outputs: Outputs = {}
    for name, bound in (("all", None), ("pruned", 2.2)):
        config = {"prune_above": bound, "precision": "fp32"}
        output = folder / f"{name}.parquet"
        score.main(arguments(config, input=given, model=model, output=output, device="cpu"))
        outputs[name] = table(output, "scored")
        outputs[f"{name}_record"] = counts(output.with_suffix(".json"))
    return outputs


def scored() -> list[Row]:
    """Return rows of the `scored` schema with numbers that binary fractions hold exactly."""
    texts = [row["reference"] for row in pairs("train", 40)]
    rows = []
    for number, row in enumerate(pairs("held_out", 8)):
        found = [
            {
                "text": texts[(5 * number + index) % len(texts)],
                "forward_nll": 0.5 + index / 16,
                "backward_nll": 0.25 + ((7 * index + number) % 12) / 16,
                "count": 1 + index % 3,
                "variant": "v",
            }
            for index in range(12)
        ]
        for each in found:
            each["sum"] = each["forward_nll"] + each["backward_nll"]
        found.sort(key=lambda each: (each["sum"], each["text"]))
        rows.append({**row, "candidates": found})
    return rows


def select_outputs(folder: Path) -> Outputs:
    scores = write_table(folder / "0000.parquet", "scored", scored())
    model = lone_segmenter(folder)
    outputs: Outputs = {}
    for method, kept in (
        ("cluster", {"quantile": 0.8}),
        ("nbest", {"max_sum": 1.5}),
        ("best", {"max_sum": 1.25}),
    ):
        config = {"method": method, "clusters": 4, "best": 3, "keep": kept}
        found, output = folder / method / "threshold.json", folder / method / "0000.parquet"
        threshold.main(arguments(config, folder=folder, shards=1, output=found))
        select.main(
            arguments(
                config,
                input=scores,
                threshold=found,
                model=model,
                output=output,
            )
        )
        outputs[method] = table(output, "paraphrases")
        outputs[f"{method}_record"] = counts(output.with_suffix(".json"))
        outputs[f"{method}_threshold"] = json.loads(found.read_text(encoding="utf-8"))
    return outputs


def selected() -> list[Row]:
    """Return rows of the `paraphrases` schema, of the micro bitext and of the testbed."""
    rows = [
        {**row, "texts": [each["reference"] for each in pairs("train", 40)[5 * number :][:2]]}
        for number, row in enumerate(pairs("held_out", 6))
    ]
    rows += [
        {
            "id": f"testbed:{number}",
            "source": "",
            "reference": reference,
            "corpus": "testbed",
            "texts": texts,
        }
        for number, (reference, *texts) in enumerate(TESTBED, 1)
    ]
    return [
        {
            **{key: row[key] for key in ("id", "source", "reference", "corpus")},
            "paraphrases": [
                {
                    "rank": rank,
                    "text": text,
                    "forward_nll": 0.5,
                    "backward_nll": rank / 4,
                    "sum": 0.5 + rank / 4,
                    "cluster": rank,
                    "variant": "v",
                }
                for rank, text in enumerate(row["texts"], 1)
            ],
            "candidates": 12,
            "kept": 9,
            "reason": "" if len(row["texts"]) == 2 else "above_threshold 3",
        }
        for row in rows
    ]


def filter_outputs(folder: Path) -> Outputs:
    given = write_table(folder / "paraphrases.parquet", "paraphrases", selected())
    shard = folder / "columns" / "0000.parquet"
    columns.main(["--input", str(given), "--output", str(shard)])
    model, told = folder / "classifier", folder / "told" / "0000.parquet"
    config = {
        **{"network": "lstm", "size": 4, "vocabulary": 20, "pairs": 20, "validation": 0.3},
        **{"epochs": 2, "batch": 6, "learning_rate": 0.01, "seed": 1},
    }
    train_classifier.main(arguments(config, folder=shard.parent, shards=1, output=model))
    classify.main(["--input", str(shard), "--model", str(model), "--output", str(told)])
    config = {
        **{"system": "micro", "bounds": {"rank": [1, 2]}, "max_tokens": 100, "sample": 6},
        **{"folds": {"column": "overlap_1", "of": 3, "keep": [2, 3]}, "seed": 1},
    }
    output = folder / "pairs.parquet"
    training_set.main(arguments(config, folder=shard.parent, shards=1, output=output))
    vectors = [f"{word} {place} 1" for place, word in enumerate(["the", "dog", "car", "doctor"])]
    micro.write_lines(folder / "vectors.txt", vectors)
    scores = folder / "scores" / "0000.parquet"
    given = ["--input", str(shard), "--vectors", str(folder / "vectors.txt")]
    paraphrase_score.main([*given, "--output", str(scores)])
    return {
        "scores": table(scores, "pair_values"),
        "columns": table(shard, "pair_columns"),
        "columns_record": counts(shard.with_suffix(".json")),
        "classifier": json.loads((model / "metrics.json").read_text(encoding="utf-8")),
        "vocabulary": json.loads((model / "vocabulary.json").read_text(encoding="utf-8")),
        "told": table(told, "pair_values"),
        "told_record": counts(told.with_suffix(".json")),
        "pairs": table(output, "training_pairs"),
        "pairs_record": counts(output.with_suffix(".json")),
    }


def embed_outputs(folder: Path) -> Outputs:
    """Data sets with a blank score and a pair that is trained on; a model of several encoders."""
    references = [row["reference"] for row in pairs("train", 60)]
    rows = [
        {"id": f"train:{number}", "reference": one, "paraphrase": other}
        for number, (one, other) in enumerate(zip(references[::2], references[1::2], strict=True))
    ]
    training_pairs = write_table(folder / "pairs.parquet", "training_pairs", rows)
    micro.write_graded(folder / "graded.tsv", [references[0], *dev_references()])
    with (folder / "graded.tsv").open("a", encoding="utf-8") as file:
        file.write("\tNo score.\tFor this.\n")
    tested = folder / "evaluation.parquet"
    common = {"language": "en", "seed": 1}
    data = {"data": [str(folder / "graded.tsv")], "testbed": {"first": 9, "count": 6}}
    evaluation.main(arguments(common | data, output=tested))
    outputs: Outputs = {
        "evaluation": table(tested, "sts_pairs"),
        "evaluation_record": counts(tested.with_suffix(".json")),
    }
    sizes = {"dimension": 4, "hidden": 4, "vocabulary": 300}
    models = {
        "word": {"training": {"anneal": 3, "development": None}},
        "mixed": {
            "model": {"encoders": ["word", "trigram", "lstm"], "combine": "add", "min_count": 2},
            "training": {"dropout": 0.1, "l2_network": 1e-4, "l2_vectors": 1e-4},
        },
        "gated": {"model": {"encoders": ["gran", "blstm"], "tokens": "pieces", "vocabulary": 80}},
    }
    for name, block in models.items():
        config = {
            **{"name": name, "repetition": 1, **common},
            "model": MODEL | sizes | block.get("model", {}),
            "training": TRAINING
            | {"epochs": 2, "batch": 10, "mega_batch": 2}
            | block.get("training", {}),
        }
        embed.main(
            arguments(
                config,
                **{"pairs": training_pairs, "evaluation": tested, "device": "cpu"},
                work=folder / "work" / name,
                output=folder / name,
            )
        )
        outputs[f"{name}_record"] = counts(folder / name / "model.json")
        outputs[f"{name}_vectors"] = load(folder / name).encode(references[:5]).tolist()
    compare.main(
        arguments(
            {"bootstrap": 50, "seed": 1},
            evaluation=tested,
            models=[f"{name}/1={folder / name}" for name in models],
            output=folder / "sts.json",
        )
    )
    outputs["sts"] = json.loads((folder / "sts.json").read_text(encoding="utf-8"))
    return outputs


def dev_references() -> list[str]:
    return [row["reference"] for row in pairs("dev", 12)]


def syntax_outputs(folder: Path) -> Outputs:
    """Sentences of the testbed alone: the tests' parser knows them well, on any CPU."""
    rows = [row for row in selected() if row["corpus"] == "testbed"]
    given = write_table(folder / "select.parquet", "paraphrases", rows)
    config = {
        "folder": str(stanza_package.FOLDER),
        "language": stanza_package.LANGUAGE,
        "package": stanza_package.PACKAGE,
        **{"share": 0.8, "seed": 1},
    }
    output = folder / "0000.parquet"
    syntax.main(arguments(config, input=given, output=output, device="cpu"))
    return {"trees": table(output, "trees"), "record": counts(output.with_suffix(".json"))}


def flat_trees() -> list[Row]:
    """Return rows of the `trees` schema for `selected`: each word a part of speech of its own."""

    def tree(text: str) -> str:
        return f"(S {' '.join(f'({word} w)' for word in text.split())})"

    return [
        {
            **{key: row[key] for key in ("id", "corpus")},
            "parsed": bool(row["paraphrases"]),
            "reference": tree(row["reference"]),
            "paraphrases": [tree(each["text"]) for each in row["paraphrases"]],
        }
        for row in selected()
    ]


def evaluate_outputs(folder: Path) -> Outputs:
    write_table(folder / "select" / "0000.parquet", "paraphrases", selected())
    write_table(folder / "score" / "0000.parquet", "scored", scored())
    write_table(folder / "syntax" / "0000.parquet", "trees", flat_trees())
    found = {"keep": {"max_sum": 1.5}, "max_sum": 1.5, "candidates": 96, "pruned": 0, "kept": 70}
    path = folder / "select" / "threshold.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    write_record(path.with_name(threshold.RECORD), 0, 0, {}, files=[path])
    config = {
        **{"system": "micro", "best": 2, "bootstrap": 100, "seed": 1, "testbed": ["testbed"]},
        **{"groups": {"seen": ["testbed"], "held_out": ["held_out"]}, "syntax": {"levels": 2}},
    }
    measures.main(
        arguments(
            config,
            **{"folder": folder / "select", "scored": folder / "score"},
            **{"trees": folder / "syntax", "shards": 1},
            model=lone_segmenter(folder),
            output=folder / "measures.json",
        )
    )
    pairs = folder / "filter" / "0000.parquet"
    columns.main(["--input", str(folder / "select" / "0000.parquet"), "--output", str(pairs)])
    rows = table(pairs, "pair_columns")
    values = [{key: row[key] for key in ("id", "rank")} | {"value": row["sum"]} for row in rows]
    write_table(folder / "values" / "0000.parquet", "pair_values", values)
    config = {"pairs": 12, "columns": {"value": "classifier"}, "seed": 1}
    statistics.main(
        arguments(
            config,
            **{"folder": pairs.parent, "values": f"value={folder / 'values'}", "shards": 1},
            trees=folder / "syntax",
            output=folder / "statistics.json",
        )
    )
    return {
        name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("measures", "statistics")
    }


def release_outputs(folder: Path) -> Outputs:
    """The released data; how datasheet and report word it is no matter of versions."""
    write_table(folder / "0000.parquet", "paraphrases", selected())
    output = folder / "release"
    export.main(arguments({"best": 2}, folder=folder, shards=1, output=output))
    tsv, parquet = output / "paraphrases.tsv.zst", output / "paraphrases.parquet"
    checksums.main(["--files", str(tsv), str(parquet), "--output", str(output / "SHA256SUMS")])
    sums = (output / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    released = export.pq.read_table(parquet)
    return {
        "tsv": zstandard.decompress(tsv.read_bytes(), 1 << 20).decode("utf-8"),
        "columns": str(released.schema.remove_metadata()),
        "rows": released.to_pylist(),
        "record": counts(output / "paraphrases.json"),
        "sums": [line.split("  ")[1] for line in sums],
    }


STAGES: dict[str, Callable[[Path], Outputs]] = {
    "corpus": corpus_outputs,
    "clean": clean_outputs,
    "dual_filter": dual_filter_outputs,
    "subword": subword_outputs,
    "train": train_outputs,
    "generate": generate_outputs,
    "score": score_outputs,
    "select": select_outputs,
    "filter": filter_outputs,
    "embed": embed_outputs,
    "syntax": syntax_outputs,
    "evaluate": evaluate_outputs,
    "release": release_outputs,
}


# --- golden.json -----------------------------------------------------------------------------


def measured(stage: str, folder: Path) -> dict[str, Any]:
    """Run a stage on its input in an empty folder; return its entry of golden.json."""
    torch.set_num_threads(1)
    return {"version": VERSIONS[stage], "outputs": figures(STAGES[stage](folder))}


def read_golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}


def main(argv: list[str] | None = None) -> int:
    """Bring golden.json up to date with stages whose version was raised."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="all without any")
    parser.add_argument(
        "--same-version",
        action="store_true",
        help="the input or the tools of this test changed, and not what the stage does",
    )
    options = parser.parse_args(argv)
    golden, refused = read_golden(), []
    for stage in options.stages or STAGES:
        with tempfile.TemporaryDirectory() as folder:
            entry = measured(stage, Path(folder))
        known = golden.get(stage, entry)
        changed = differences(stage, entry["outputs"], known["outputs"])
        if changed and entry["version"] == known["version"] and not options.same_version:
            refused.append(f"{stage}: {', '.join(changed)} changed; raise its version first")
        elif changed or entry["version"] != known["version"] or stage not in golden:
            golden[stage] = entry
    text = json.dumps(golden, indent=2, sort_keys=True) + "\n"
    GOLDEN.write_text(text, encoding="utf-8")
    print("\n".join(refused or ["golden.json is up to date"]))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
