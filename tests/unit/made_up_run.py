"""A made-up but realistic run: two systems, seen and held-out references, finished units."""

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sentencepiece

from tests.golden.inputs import arguments, write_table
from tests.unit.saved_classifier import save_classifier
from workflow_scripts.core.files import manifest
from workflow_scripts.core.files.atomic import write_json, write_text
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import (
    PairColumnsRow,
    PairRow,
    PairValueRow,
    ParaphrasesRow,
    ReferenceScoreRow,
    ScoredRow,
    TreesRow,
)
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.evaluate import bounds, measures, run_answers, statistics
from workflow_scripts.stages.filter import columns
from workflow_scripts.stages.select.threshold import RECORD

SYSTEMS = ("parabank2", "beam")
BEST = 5
SHARDS = 2
GROUPS = {"seen": ["news"], "held_out": ["news_held_out"]}
HOSTILE = [
    "<script>alert('x')</script> & <b>bold</b>",
    "Quotes \"double\" and 'single', tabs\tand\nfeeds.",
    "هذه جملة من اليمين إلى اليسار.",
    "An emoji 👩‍👩‍👧 and =cmd|' /C calc'!A0",
    "Averyveryverylongwordwithoutanyblank" * 6,
]
SLOTS = (
    ("The", "This", "That one"),
    ("old", "aged", "elderly", "ancient"),
    ("doctor", "physician", "medic"),
    ("bought", "purchased", "acquired", "got"),
    ("a small", "a little", "a tiny"),
    ("house", "home", "cottage"),
    ("near the river.", "by the stream.", "close to the water.", "at the brook."),
    ("", "last year", "a year ago", "twelve months ago"),
)


@dataclass(frozen=True)
class Run:
    """Where the made-up run stands, and what the commands of the release get of it."""

    root: Path
    config: dict
    units: dict[str, Path]
    systems: tuple[str, ...] = SYSTEMS
    hostile: tuple[str, ...] = tuple(HOSTILE)

    def system_config(self, system):
        config = {key: value for key, value in self.config.items() if key != "systems"}
        block = self.config["systems"][system]
        return {**config, "system": system, "block": block, "best": block["select"]["best"]}

    def units_of(self, systems=None, more=()):
        """The folders of the units by their names; only those of some systems."""
        left_out = {*SYSTEMS} - {*(systems or self.systems)}
        units = {**self.units, **dict(more)}
        return {name: at for name, at in units.items() if name.split("/")[-1] not in left_out}

    def arguments(self, **options):
        """The options of a command that name the configuration and the units."""
        named = [f"{name}={folder}" for name, folder in self.units_of(**options).items()]
        return arguments(self.config, units=named)

    def finished(self, rows=None, **options):
        """What sections and tables get."""
        split = [(name.partition("/"), at) for name, at in self.units_of(**options).items()]
        units = [((stage, instance or None), at) for (stage, _, instance), at in split]
        return FinishedRun(self.config, units, rows)

    def section(self, function, **options):
        """The HTML of one section, or None."""
        found = sections([function], self.finished(**options))
        return str(found[0].html) if found else None

    def folder(self, stage, system):
        return at(self.root, stage, system)

    def measures(self, system):
        return self.folder("evaluate", system) / "measures.json"

    def bounds(self, system):
        return self.folder("evaluate", system) / "bounds.json"

    def answers(self, system):
        return self.folder("evaluate", system) / "answers.json"

    def statistics(self, system):
        return self.folder("evaluate", system) / "statistics.json"

    def model(self, role):
        return self.folder("train", role)


class EndsAlike:
    """Stands in for the testbed's checker: sentences that end alike mean the same."""

    def same_meaning(self, reference, sentence):
        return reference.split()[-1:] == sentence.split()[-1:]

    def variations(self, reference, sentence):
        return {"synonym", "adverb order"}


def sentence(random):
    words = [slot[random.integers(len(slot))] for slot in SLOTS]
    return " ".join(filter(None, words))


def references(random, count=120):
    rows = []
    for number in range(count):
        corpus = "news" if number % 2 else "news_held_out"
        text = HOSTILE[number] if number < len(HOSTILE) else sentence(random)
        rows.append(
            {
                "id": f"{corpus}:{number + 1}",
                "source": "Starý lékař koupil malý dům u řeky.",
                "reference": text,
                "corpus": corpus,
            }
        )
    return rows


def candidates(random, reference, pruned_above=3.5):
    found = []
    # Some references are harder than others: fewer of their candidates pass.
    difficulty = random.uniform(0.6, 2.2)
    texts = {sentence(random) for _ in range(random.integers(3, 20))} | {f"{reference} indeed"}
    for text in sorted(texts):
        forward = np.float32(difficulty * random.gamma(6, 0.2))
        backward = np.float32(difficulty * random.gamma(5, 0.25))
        pruned = forward > pruned_above
        found.append(
            {
                "text": text,
                "forward_nll": float(forward),
                "backward_nll": None if pruned else float(backward),
                "sum": None if pruned else float(forward + backward),
                "count": 1,
                "variant": "",
            }
        )
    return sorted(found, key=lambda each: (each["sum"] is None, each["sum"], each["text"]))


def selected(row, scored, max_sum=3.5):
    kept = [each for each in scored if each["sum"] is not None and each["sum"] <= max_sum]
    keys = ("text", "forward_nll", "backward_nll", "sum", "variant")
    paraphrases = [
        {"rank": rank, "cluster": rank, "probability": None, **{key: each[key] for key in keys}}
        for rank, each in enumerate(kept[:BEST], start=1)
    ]
    return {
        **row,
        "paraphrases": paraphrases,
        "candidates": len(scored),
        "kept": len(kept),
        "reason": "" if len(paraphrases) == BEST else "above_threshold 3",
    }


def at(root, *names):
    """Return the folder of a unit, by stage and instance."""
    return root.joinpath(*filter(None, names), "v1-0123456789ab")


def write_system(root, system, random):
    folders = {stage: at(root, stage, system) for stage in ("score", "select")}
    rows = references(np.random.default_rng(1))
    lists = [candidates(random, row["reference"]) for row in rows]
    for shard in range(SHARDS):
        part = list(zip(rows, lists, strict=True))[shard::SHARDS]
        name, count = f"{shard:04d}.parquet", sum(len(found) for _, found in part)
        scored = [{**row, "candidates": found} for row, found in part]
        extra = {"candidates": 3 * count, "distinct": count, "pruned": 0}
        write_table(folders["score"] / name, ScoredRow, scored, extra=extra)
        chosen, extra = [selected(*each) for each in part], {"candidates": {"kept": 1}}
        write_table(folders["select"] / name, ParaphrasesRow, chosen, extra=extra)
    sums = [each["sum"] for found in lists for each in found if each["sum"] is not None]
    threshold = {
        "keep": {"max_sum": 3.5},
        "max_sum": 3.5,
        "candidates": sum(map(len, lists)),
        "pruned": sum(map(len, lists)) - len(sums),
        "kept": sum(value <= 3.5 for value in sums),
    }
    path = folders["select"] / "threshold.json"
    write_json(path, threshold)
    manifest.write_record(path.with_name(RECORD), 0, 0, {}, files=[path])


def write_reference_scores(root, random):
    """The references' own scores: those that models know are better, and one can't be read."""
    rows = references(np.random.default_rng(1))

    def scores(row):
        scale = 0.8 if row["corpus"] == "news" else 1.1
        forward, backward = (np.float32(scale * random.gamma(6, 0.2)) for _ in range(2))
        if row is rows[0]:
            backward = np.float32(math.inf)
        nlls = {"forward_nll": float(forward), "backward_nll": float(backward)}
        same = {key: row[key] for key in ("id", "corpus")}
        return {**same, **nlls, "sum": float(forward + backward)}

    for shard in range(SHARDS):
        path = at(root, "score", "references") / f"{shard:04d}.parquet"
        write_table(path, ReferenceScoreRow, map(scores, rows[shard::SHARDS]))
    return write_manifest(root, "score", "references", {"precision": "fp32"}, shards=SHARDS)


def write_bounds(root, system):
    files = {"scored": at(root, "score", system), "references": at(root, "score", "references")}
    files["threshold"] = at(root, "select", system) / "threshold.json"
    files["output"] = at(root, "evaluate", system) / "bounds.json"
    bounds.main(arguments({"groups": GROUPS, "seed": 1}, shards=SHARDS, **files))


def write_answers(root, system):
    """Call the paraphrases of ranks 1 and 3 of one reference right, and one that it has not."""
    folder = at(root, "select", system)
    files = sorted(folder.glob("0*.parquet"))
    rows = [row for path in files for row in read_rows(path, ParaphrasesRow)][len(HOSTILE) :]
    first = next(row for row in rows if len(row["paraphrases"]) >= 3)
    right = [first["paraphrases"][rank]["text"] for rank in (0, 2)]
    answers = [(text, weight) for text, weight in zip([*right, "no such"], (1, 2, 5), strict=True)]
    lines = [f"{first['reference']}\t{text}\t{weight}" for text, weight in answers]
    path = root / f"answers.{system}.tsv"
    write_text(path, "\n".join([*lines, "in no corpus\tanswer\t1", ""]))
    output = at(root, "evaluate", system) / "answers.json"
    run_answers.main(arguments(answers=path, folder=folder, shards=SHARDS, output=output))


def write_trees(root, system, random):
    """Write made-up trees for the system's paraphrases; the last reference has none."""
    shapes = ["(S (NP (N a)) (VP (V b)))", "(S (VP (V a)) (. .))", "(FRAG (NP (N a)))"]
    for shard in range(SHARDS):
        name, trees = f"{shard:04d}.parquet", []
        for row in read_rows(at(root, "select", system) / name, ParaphrasesRow):
            found = [shapes[random.integers(3)] for _ in row["paraphrases"]]
            told = {"parsed": bool(found), "reference": shapes[0], "paraphrases": found}
            trees.append({"id": row["id"], "corpus": row["corpus"], **told})
        trees[-1]["reference"] = None
        write_table(at(root, "syntax", system) / name, TreesRow, trees)
    return at(root, "syntax", system)


def write_model(root, role, bleu=31.25):
    folder = at(root, "train", role)
    columns = "checkpoint updates epoch learning_rate train_perplexity validation_perplexity"
    lines = [columns.replace(" ", "\t")]
    for checkpoint in range(1, 13):
        validation = 2.1 + 30 * math.exp(-checkpoint / 2)
        row = (checkpoint, 100 * checkpoint, checkpoint // 3, 0.001, validation + 0.6, validation)
        lines.append("\t".join(f"{value:g}" for value in row))
    write_text(folder / "learning_curve.tsv", "\n".join(lines) + "\n")
    metrics = {
        "role": role,
        "direction": role,
        "updates": 1200,
        "validation_perplexity": 2.174,
        "parameters": 1_234_567,
        "bleu": {"score": bleu, "signature": "nrefs:1|case:mixed|eff:no", "sentences": 500},
    }
    write_json(folder / "metrics.json", metrics)
    files = [folder / "metrics.json", folder / "learning_curve.tsv"]
    record = folder / "model"
    manifest.write_record(record, 20_000, 19_990, {"too_long": 10}, extra=metrics, files=files)


def write_manifest(root, stage, instance, config, shards=0, parts=()):
    folder = at(root, stage, instance)
    name = "/".join(filter(None, (stage, instance, folder.name)))
    unit = {"stage": stage, "instance": instance, "name": name, "version": 1, "config": config}
    options = {"folder": folder, "shards": shards, "records": list(parts)}
    manifest.main(arguments(**options, unit=json.dumps(unit), output=folder / "manifest.json"))
    return folder


def write_pairs(root, stage, instance, rows_in, rejected):
    path = write_table(at(root, stage, instance) / "0000.parquet", PairRow, [])
    manifest.write_record(path, rows_in, rows_in - sum(rejected.values()), rejected)
    return write_manifest(root, stage, instance, {"made": "up"}, shards=1)


def segmenter(path):
    random = np.random.default_rng(0)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(sentence(random) for _ in range(500)),
        model_writer=model,
        vocab_size=120,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    path.write_bytes(model.getvalue())
    manifest.write_record(path.with_name("model"), 0, 0, {}, files=[path])
    return path


def write_measures(root, system, model):
    config = {"system": system, "best": BEST, "groups": GROUPS, "bootstrap": 200, "seed": 1}
    config |= {"language": "en", "testbed": [], "syntax": None}
    files = {"folder": at(root, "select", system), "scored": at(root, "score", system)}
    if system == "parabank2":
        config |= {"testbed": ["news_held_out"], "syntax": {"levels": 3}}
        files["trees"] = write_trees(root, system, np.random.default_rng(5))
    output = at(root, "evaluate", system) / "measures.json"
    measures.main(arguments(config, shards=SHARDS, **files, model=model.parent, output=output))


def write_statistics(root, system):
    """The statistics of the system's pairs, with a paraphrase score and a classifier."""
    pairs, values = root / "filter" / system, {}
    kinds = {"score": "vectors", "told": "classifier"}
    for shard in range(SHARDS):
        name = f"{shard:04d}.parquet"
        selected = at(root, "select", system) / name
        columns.main(arguments({}, paraphrases=selected, output=pairs / name))
        rows = list(read_rows(pairs / name, PairColumnsRow, ["id", "rank", "overlap_1"]))
        for column in kinds:
            values[column] = root / "filter" / f"{column}-{system}"
            names = {"id": "id", "rank": "rank", "value": "overlap_1"}
            of_column = [{name: row[old] for name, old in names.items()} for row in rows]
            write_table(values[column] / name, PairValueRow, of_column)
    told = values["told"]
    accuracies = {"accuracy": 0.722, "references": 0.6401, "paraphrases": 0.8039}
    metrics = {"test": accuracies, "test_pairs": 5000, "negatives": "hardest", "l2": 1e-6}
    save_classifier(told, metrics, ["the dog"])
    config = {"pairs": 500, "columns": kinds, "seed": 1}
    files = {"values": [f"{column}={folder}" for column, folder in values.items()]}
    trees = at(root, "syntax", system)
    files |= {"folder": pairs, "scored": at(root, "score", system)}
    files |= {"trees": trees} if trees.exists() else {}
    output = at(root, "evaluate", system) / "statistics.json"
    statistics.main(arguments(config, shards=SHARDS, **files, output=output))


def build_run(root, monkeypatch):
    monkeypatch.setattr(measures, "Checker", EndsAlike)
    model = segmenter(root / "reference.model")
    rejected = {"empty": 12, "too_long": 340, "not_utf8": 3}
    units = {
        "corpus/news": write_pairs(root, "corpus", "news", 21_000, rejected),
        "corpus/news_held_out": write_pairs(root, "corpus", "news_held_out", 1_000, {}),
        "clean": write_pairs(
            root, "clean", None, 21_645, {"duplicate": 901, "ratio": 230, "copy": 17}
        ),
        "subword/main": write_manifest(root, "subword", "main", {"seed": 1}),
        "generate/references": write_manifest(
            root, "generate", "references", {"corpora": ["news", "news_held_out"]}
        ),
    }
    for role in ("forward", "backward"):
        write_model(root, role)
        config = {"model": {"size": 128, "title": "</script><b>not bold"}}
        units[f"train/{role}"] = write_manifest(root, "train", role, config, parts=["model"])
    units["score/references"] = write_reference_scores(root, np.random.default_rng(7))
    for number, system in enumerate(SYSTEMS):
        write_system(root, system, np.random.default_rng(number))
        write_measures(root, system, model)
        write_statistics(root, system)
        write_bounds(root, system)
        write_answers(root, system)
        for stage in ("score", "select"):
            found = write_manifest(root, stage, system, {"best": BEST}, shards=SHARDS)
            units[f"{stage}/{system}"] = found
        parts = [measures.RECORD, statistics.RECORD, bounds.RECORD, run_answers.RECORD]
        found = write_manifest(root, "evaluate", system, {"groups": GROUPS}, parts=parts)
        units[f"evaluate/{system}"] = found
    block = {
        "search": {"method": "sample", "k": 10, "samples": 30},
        "constraints": {"kind": "negative", "choose": "random", "sets": 5},
        "score": {"prune_above": 3.5},
        "select": {"method": "cluster", "clusters": 7, "best": BEST, "keep": {"max_sum": 3.5}},
    }
    config = {
        "title": "Paraphrases of <news>: a 'test'",
        "licence": "cc-by-4.0",
        "name": "made-up",
        "languages": {"source": "cs", "reference": "en"},
        "systems": dict.fromkeys(SYSTEMS, block),
        "seed": 1,
    }
    return Run(root, config, units)
