"""A fixed input of the stage `clean`, and what it makes of it."""

from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, table, write_table
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.stages.clean import shard as clean


def outputs(folder: Path) -> Outputs:
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
    inputs = [write_table(folder / name / "0000.parquet", PairRow, rows[name]) for name in rows]
    rejected = folder / "rejected" / "0000.tsv.zst"
    output = folder / "0000.parquet"
    clean.main(arguments(config, pairs=inputs, output=output, rejected=rejected))
    return {
        "pairs": table(folder / "0000.parquet", PairRow),
        "record": counts(folder / "0000.json"),
    }
