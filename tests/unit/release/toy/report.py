from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.table import Table


def _count(run):
    return read_json(run.folder("toy") / "count.json", "words")["words"]


def word_counts(run):
    count = _count(run)
    return {"count": count} if count else None


def words(run):
    return Table("words", [{"words": _count(run)}])
