"""A fixed input of the stage `generate`, and what it makes of it."""

from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, table, write_table
from tests.golden.models import fixed_model
from workflow_scripts.core.files.rows import (
    CandidatesRow,
    DocumentFrequencyRow,
    PairRow,
    ReferenceRow,
    WrittenRow,
)
from workflow_scripts.stages.generate import (
    candidates,
    idf,
    references,
    sample_references,
    write_sources,
)


def outputs(folder: Path) -> Outputs:
    rows = [*pairs("train", 30), *pairs("held_out", 20), *pairs("dev", 5)]
    shards = [
        write_table(folder / f"000{shard}.parquet", PairRow, rows[shard::2]) for shard in (0, 1)
    ]
    config = {"corpora": ["train", "held_out"], "limit": {"train": 5, "held_out": 3}, "seed": 1}
    sample = folder / "sample.json"
    sample_references.main(arguments(config, folder=folder, shards=2, output=sample))
    chosen = folder / "references" / "0000.parquet"
    references.main(arguments(config, sample=sample, pairs=shards, output=chosen))
    counted = folder / "idf" / "idf.parquet"
    counting = {"corpora": ["train"], "language": "en"}
    idf.main(arguments(counting, folder=folder, shards=2, output=counted))
    outputs: Outputs = {
        "references": table(chosen, ReferenceRow),
        "references_record": counts(chosen.with_suffix(".json")),
        "idf": table(counted, DocumentFrequencyRow),
        "idf_record": counts(counted.with_suffix(".json")),
    }
    given = write_table(folder / "fixed.parquet", ReferenceRow, pairs("held_out", 4))
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
                "language": "en",
                "idf": {"bounds": [2.0, 17.0], "min_references": 2, "exempt": ["the", "at"]},
                "pairs": {"list": str(words)},
                "variants": {
                    "free": None,
                    "want": {"kind": "positive", "choose": {"random": 1}, "inflect": "verb"},
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
        options = {"references": given, "model": model, "output": output, "device": "cpu"}
        candidates.main(arguments(config, idf=counted, **options))
        outputs[name] = table(output, CandidatesRow)
        outputs[f"{name}_record"] = counts(output.with_suffix(".json"))
    rows = [{**row, "source": ""} for row in pairs("held_out", 6)]
    text = write_table(folder / "text.parquet", PairRow, [*rows, {**rows[0], "id": "again"}])
    backward = fixed_model(folder / "backward", "reference", "source", 2)
    search = {"method": "sample", "k": 4, "samples": 2, "temperature": 0.7}
    config = {"search": search, "precision": "fp32", "seed": 1}
    written = folder / "sources" / "0000.parquet"
    options = {"text": text, "forward": model, "backward": backward, "output": written}
    write_sources.main(arguments(config, **options, device="cpu"))
    outputs["sources"] = table(written, WrittenRow)
    outputs["sources_record"] = counts(written.with_suffix(".json"))
    return outputs
