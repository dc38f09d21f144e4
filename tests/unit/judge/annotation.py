"""A made-up run and a made-up file of pairs for the tests of the annotation page."""

import yaml

from tests import tables
from workflow_scripts.apps.annotate.items import of_file
from workflow_scripts.apps.annotate.store import Store, create
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.rows import ParaphrasesRow

SHARDS = 2
COLUMNS = ("id", "source", "reference", "paraphrase", "system", "forward_nll", "paraphrase_score")


def references(count=12):
    return [
        {
            "id": f"c:{number}",
            "source": f"Zdroj {number}.",
            "reference": f"Reference number {number}.",
            "corpus": "news" if number % 2 else "web",
        }
        for number in range(count)
    ]


def paraphrase(rank, text):
    return tables.paraphrase(rank, text, 0.25 * rank, float("inf"), cluster=rank)


def write_unit(run, stage, instance, kind, shards):
    """Write a unit below the run's results, and the run's link to it."""
    folder = run.parent.parent / "results" / stage / instance / "v1-0123456789ab"
    for number, rows in enumerate(shards):
        tables.write_table(folder / f"{number:04d}.parquet", kind, rows)
    write_json(folder / "manifest.json", {})
    link = run / f"{stage}.{instance}"
    link.symlink_to(folder)
    return folder


def write_selected(run, system, texts):
    """Write the selection of a system: the texts of each reference by its id."""
    rows = [
        tables.selected(row, [paraphrase(n, text) for n, text in enumerate(texts(row), start=1)])
        for row in references()
    ]
    shards = [rows[shard::SHARDS] for shard in range(SHARDS)]
    return write_unit(run, "select", system, ParaphrasesRow, shards)


def write_run(folder):
    """Write the run `mine` of two systems, which agree on the first paraphrase."""
    run = folder / "runs" / "mine"
    run.mkdir(parents=True)
    config = {
        "results": "results",
        "run": {"systems": ["one", "two"]},
        "languages": {"reference": {"code": "en"}},
        "shards": {"late": SHARDS},
        "corpora": {"news": {}, "web": {}},
        "columns": {"cosine": {"vectors": {}}, "told": {"classifier": {}}},
    }
    (run / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    last = references()[-1]["id"]
    for system, own in (("one", ["One {}"]), ("two", ["Two {}", "Third"])):
        texts = ["Same {}", *own]
        write_selected(
            run,
            system,
            lambda row, texts=texts: [
                each.format(row["id"]) for each in texts if row["id"] != last
            ],
        )
    return run


def write_pairs(path, references=6, paraphrases=5, **more):
    """Write a file of pairs; `more` gives a column's value by reference and paraphrase."""
    columns = [
        name for name in COLUMNS if name in ("id", "reference", "paraphrase") or name in more
    ]
    lines = ["\t".join(columns)]
    for reference in range(references):
        for number in range(paraphrases):
            row = {
                "id": f"r{reference}",
                "reference": f"This is reference {reference}.",
                "paraphrase": f"Paraphrase {number} of {reference}.",
                **{name: value(reference, number) for name, value in more.items()},
            }
            lines.append("\t".join(str(row[name]) for name in columns))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def campaign(folder, mode="similarity", clock=None, per_bin=None, **pairs):
    """Return the store of a new campaign about a file of pairs."""
    file = write_pairs(folder / "pairs.tsv", **pairs)
    path = folder / "campaign.sqlite"
    create(path, {"mode": mode, "seed": 1}, of_file(file, per_bin, 1))
    return Store(path, **({"clock": clock} if clock else {}))
