"""What is declared of jobs: the module that each starts, and the jobs of the stages of a run.

The job of a manifest is declared by the layout.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from workflow_scripts.plan.job import Job
from workflow_scripts.plan.layout import Layout

ROOT = Path(__file__).resolve().parents[1]
LEXICAL_SLOTS = "workflow_scripts.testbed.lexical_slots"
# The slow packages that commands load, and these commands; all others of the rules load none:
# tests/unit/test_start.py. Those of the stages go by what is behind `stages.`.
LOADED = {
    "sacremoses": "clean.shard",
    "sacremoses pandas": "evaluate.run_answers",
    "huggingface_hub": "corpus.hub",
    "pandas": "evaluate.statistics evaluate.system_ratings transfer.collect",
    "torch": "dual_filter.pair_scores encoder.masked encoder.tasks.comparison evaluate.rewriting"
    " filter.classify filter.embedding_score filter.feature_values filter.train_classifier"
    " generate.candidates rewrite.finished_model rewrite.measure rewrite.measure_control"
    " rewrite.continued rewrite.parses rewrite.repair score.reference_scores score.shard"
    " syntax.shard train.take_over",
    "torch sacremoses": "generate.write_sources",
    "torch scipy": "encoder.identification_pairs encoder.tasks.tuning judge.shard",
    "torch scipy scipy.stats": "embed.train judge.grammar.train",
    f"torch scipy scipy.stats pandas {LEXICAL_SLOTS}": "lexicon.measure_lexicon",
    "torch transformers huggingface_hub": "filter.encoder_score",
    # scikit-learn loads pandas, where it is there.
    "torch scipy scipy.stats sklearn pandas": "encoder.identify judge.fit_run transfer.represented",
    "torch scipy scipy.stats sklearn pandas nltk": "embed.sts_comparison",
    "torch sockeye": "rewrite.train train.sockeye",
}
MODULE = re.compile(r"[a-z_]+(\.[a-z_0-9]+)+")


@functools.cache
def started() -> dict[str, str]:
    """Return the module that the job of each rule starts, below `workflow_scripts`."""
    declared = {}
    for file in ROOT.glob("rules/*.smk"):
        text = file.read_text(encoding="utf-8")
        for name, block in re.findall(r"^rule (\w+):\n((?: {4}.*\n|\n)*)", text, re.M):
            if job := re.search(r'command=command\("?(\w+)"?, "(\w+)"\)', block):
                declared[name] = _declared(job[1], job[2])
    return declared


def _declared(stage: str, name: str) -> str:
    """Return the first module that the method names which declares a job."""
    room, of_stage = ROOT / "workflow_scripts", stage != "None"
    file = room / "stages" / stage / "stage.py" if of_stage else room / "plan" / "layout.py"
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == f"{name}_job":
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and call.args:
                    first = getattr(call.args[0], "value", None)
                    if isinstance(first, str) and first.startswith(
                        f"{stage if of_stage else 'core'}."
                    ):
                        return f"stages.{first}" if of_stage else first
    raise LookupError(f"{file}: {name}_job names no module")


def jobs(layout: Layout) -> Iterator[Job]:
    """Yield the jobs of a run; each wildcard of a stage has each of its values at least once."""
    systems = layout.config["run"]["systems"]
    values = {"shard": ["0000"], "side": ["source", "reference"]}
    for stage in layout.stages:
        if systems:  # a judge has units for some of them
            units = stage.instances()
            values["system"] = [name for name in systems if name in units] or systems
        own = {name: found for name, found in stage.wildcards().items() if found}
        values |= own
        names = [name for name in dir(stage) if re.fullmatch("[a-z].*_job", name)]
        for number in range(max(map(len, [*own.values(), values["side"], systems]))):
            at = SimpleNamespace(**{key: each[number % len(each)] for key, each in values.items()})
            for name in names if stage.instances() else ():
                try:
                    yield getattr(stage, name)(at)
                except (AttributeError, KeyError):  # what this run does without
                    continue


def waits_for(job: Job) -> list[str]:
    """Return the files whose later time is a reason to run a job again."""
    found = list(job.awaits)
    for read in job.reads.values():
        found += [read] if isinstance(read, str) else read or []
    return found


def require_right_waits(layout: Layout) -> None:
    """Look at what the jobs of a run wait for."""
    for job in jobs(layout):
        stage, read = layout.declaration(job.command.partition(".")[0]), waits_for(job)
        if job.instance in stage.instances():
            # Files of the user count by their content: a later time is no reason to run.
            assert stage.inputs(job.instance).keys().isdisjoint(read)
            # Records of shards are for manifests alone: a second edge per file costs time.
            assert not [path for path in read if re.search(r"/\d+\.json$", path)]
