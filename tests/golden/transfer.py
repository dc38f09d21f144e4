"""A fixed input of the stage `transfer`, and what it makes of it."""

import json
from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, table
from tests.unit.transfer.conftest import write_senteval
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import TransferRow
from workflow_scripts.stages.transfer import collect, represented


def write_vectors(tasks: Path, path: Path) -> Path:
    """Write a vector for each word of the tasks, of numbers that follow from its place."""
    rows = list(read_rows(tasks, TransferRow))
    words = sorted({word for row in rows for word in f"{row['first']} {row['second']}".split()})
    lines = [
        " ".join([word, *(str((7 * place + 3 * number) % 11 / 8) for number in range(6))])
        for place, word in enumerate(words)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def outputs(folder: Path) -> Outputs:
    """Tasks of each protocol: folds, one with its own test part, and grades of pairs."""
    data = write_senteval(folder / "senteval", rows=12)
    tasks = folder / "tasks.parquet"
    names = ["CR", "SST2", "TREC", "SICK-R", "SICK-E"]
    collect.main(arguments({"data": [str(data)], "tasks": names}, output=tasks))
    found: Outputs = {"tasks": table(tasks, TransferRow), "record": counts(folder / "tasks.json")}
    common = {"classifier": "adam", "folds": 3, "seeds": [1111], "scaled": True}
    common |= {"bootstrap": 20, "seed": 1}
    vectors = write_vectors(tasks, folder / "vectors.txt")
    for kind, block in (("vectors", {"vectors": str(vectors)}), ("bag_of_words", {})):
        output = folder / kind / "transfer.json"
        options = {"tasks": tasks, "work": folder / "work" / kind, "output": output}
        represented.main(arguments({**common, **block, "kind": kind}, **options))
        content = json.loads(output.read_text(encoding="utf-8"))
        found[kind] = {key: content[key] for key in ("states", "gain", "seen")}
    return found
