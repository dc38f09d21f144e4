"""Predict what a configuration costs, from a calibration of a minute on this machine.

CPU- and GPU-hours, disk and files, stage by stage, before anything is started (docs/scaling.md).
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workflow_scripts.commands.estimate.predict import Cost, Predictor, Speeds
from workflow_scripts.commands.runs.run_list import size_text
from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import Side
from workflow_scripts.core.report.terminal import fitted_table
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.merges import merging, without_bitext
from workflow_scripts.plan.catalogues.model_blocks import finished
from workflow_scripts.plan.catalogues.rewriters import (
    continued,
    finished_rewriter,
    model_name,
    model_of,
    rewriter_role,
    rewriters,
)
from workflow_scripts.plan.config import FILTER_ROLES
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.resolve import add_arguments, resolve
from workflow_scripts.plan.run.run_folders import link_name
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.rewrite.unit_kinds import SUBWORD

# What measures is imported where it is used: the Python of Snakemake may be without it.
if TYPE_CHECKING:
    import torch

    from workflow_scripts.commands.estimate.networks import Shape, Speed
    from workflow_scripts.commands.estimate.text_speed import TextSpeed

# Seconds on the wall for all networks; text and start-up take about as long again.
_BUDGET = 24.0
_ROOT = Path(__file__).resolve().parents[3]
# A finished model that can't be measured counts as a model of this shape: a base Transformer.
_FINISHED_MODEL = {
    "encoder_layers": 6,
    "decoder_layers": 6,
    "size": 512,
    "feed_forward": 2048,
    "heads": 8,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "batch_words": 2048,
    "max_updates": 1,
    "checkpoint_updates": 1,
    "learning_rate": 0.001,
    "warmup": 0,
    "schedule": "none",
    "max_length": 100,
}


def say(what: str) -> None:
    """Tell on stderr what is measured next."""
    print(f"estimate: {what}", file=sys.stderr, flush=True)


def require_packages() -> None:
    """Import all that measures.

    Raises:
        InputError: this Python is without some of it; the message says which one has it.
    """
    try:
        from workflow_scripts.commands.estimate import networks, text_speed  # noqa: F401
    except ModuleNotFoundError as error:
        environment = "paraloom-estimate"
        raise InputError(
            f"this Python ({sys.executable}) has no {error.name}: estimate lets the stages work "
            f"for a minute, and needs what they import. `paraloom setup` installs it, in a clone "
            f"`make setup`: source {_ROOT}/.venv/bin/activate. With conda, once:\n"
            f"  conda env create -n {environment} -f {_ROOT}/envs/estimate.yaml\n"
            f"  conda run -n {environment} bash {_ROOT}/envs/nmt.post-deploy.sh\n"
            f"and then the same command behind: conda run -n {environment}"
        ) from error


def start_seconds() -> dict[str, float]:
    """Return the CPU-seconds that a job of each kind takes before it begins to work."""
    seconds = {}
    for kind, module in (("text", "clean.shard"), ("network", "generate.candidates")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", f"workflow_scripts.stages.{module}", "--help"]
        environment = os.environ | {"PYTHONPATH": str(_ROOT), "PYTHONSAFEPATH": "1"}
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds[kind] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds


class Finished(NamedTuple):
    """A finished model that is here: its folder, and the text models of both sides."""

    folder: Path
    texts: dict[Side, Path]

    def size(self) -> int:
        """Return the bytes that a run keeps: of its files, and of a text model for each side."""
        files = [*self.folder.iterdir(), *self.texts.values()]
        return sum(file.stat().st_size for file in files)


def finished_models(layout: Layout, folder: Path) -> dict[str, Finished]:
    """Bring the finished models that are here below `folder`, and return them by their roles.

    What is to be downloaded may not be here yet, nor the package that holds a model.
    """
    from workflow_scripts.stages.train.take_over import Task, assemble

    by_role = {}
    for role in selection.model_roles(layout.config):
        if not selection.taken_over(layout.config, role):
            continue
        settings = layout.settings(("train", role))
        (folder / role).mkdir()
        try:
            _, texts = assemble(Task(**settings, shards=[], device="cpu"), folder / role)
        except (InputError, OSError) as error:
            reason = str(error)
            if isinstance(error, FileNotFoundError):
                reason = f"{error.filename} is not here yet; the run fetches it"
            print(
                f"{role}: {reason}. It counts as a base Transformer; a student takes a fraction of "
                "its hours and bytes, NLLB a multiple.",
                file=sys.stderr,
            )
        else:
            by_role[role] = Finished(folder / role, texts)
    return by_role


def finished_shape(role: str, model: Finished, speed: "TextSpeed") -> "Shape":
    """Return the vocabularies and lengths of a finished model."""
    from workflow_scripts.commands.estimate.networks import Shape
    from workflow_scripts.stages.subword.segmenter import Segmenter
    from workflow_scripts.stages.train import data

    sides = data.sides(role.removeprefix("filter_"))
    if role.startswith(rewriter_role("")):  # it reads what it writes
        sides = ("reference", "reference")
    sizes = [len(Segmenter(model.texts[side]).vocabulary()) for side in sides]
    return Shape({}, *sizes, *(speed.pieces[side] for side in sides))


def shapes(layout: Layout, speed: "TextSpeed") -> "dict[str, Shape]":
    """Return the shape of the model of each role; a finished model counts as a base Transformer.

    Rewriters go by `rewriter_role`.
    """
    from workflow_scripts.commands.estimate.networks import Shape

    subword = layout.config["subword"]
    by_role = {}
    for role in selection.roles(layout.config):
        key = "filter_vocab_size" if role in FILTER_ROLES else "vocab_size"
        sizes = subword.get(key, subword["vocab_size"])
        block = layout.config["models"][layout.config["train"]["models"][role]]
        sides = ["source", "reference"]
        if role.endswith("backward"):
            sides.reverse()
        by_role[role] = Shape(
            _FINISHED_MODEL if finished(block) else block,
            *(sizes[side] for side in sides),
            *(speed.pieces[side] for side in sides),
        )
    for name in rewriters(layout.config):
        length = speed.pieces["reference"]
        if finished_rewriter(layout.config, name):
            size = subword["vocab_size"]["reference"]
            by_role[rewriter_role(name)] = Shape(_FINISHED_MODEL, size, size, length, length)
            continue
        settings = layout.settings(("rewrite", f"{name}{SUBWORD}"))
        size = settings["vocab_size"]["reference"]
        block = model_of(layout.config, name)
        if goes_on := continued(layout.config, name):  # its model is that of the role
            by_role[rewriter_role(name)] = by_role[goes_on["from"]]
        else:
            by_role[rewriter_role(name)] = Shape(block, size, size, length, length)
    return by_role


def block_name(layout: Layout, role: str) -> str:
    """Return the entry of `models` behind a key of `shapes`."""
    models = layout.config["train"]["models"]
    blocks = {rewriter_role(name): name for name in rewriters(layout.config)}
    return model_name(layout.config, blocks[role]) if role in blocks else models[role]


def calibrate(layout: Layout, device: "torch.device") -> Speeds:
    """Measure this machine for the run: the stages that read text, then each distinct model."""
    from workflow_scripts.commands.estimate import networks, text_speed

    compute = layout.config["compute"]
    distinct: dict[str, Speed] = {}
    with tempfile.TemporaryDirectory() as name:
        own = finished_models(layout, Path(name))
        untrained = not selection.training_corpora(layout.config)
        texts = own["forward"].texts if untrained and "forward" in own else None
        say(f"stages that read text, on {text_speed.SAMPLE:,} pairs of each corpus")
        speed = text_speed.measure(layout, texts)
        wanted = shapes(layout, speed)
        keys = {role: json.dumps(shape, sort_keys=True) for role, shape in wanted.items()}
        keys |= {role: role for role in own}
        for name in rewriters(layout.config):
            if goes_on := continued(layout.config, name):
                keys[rewriter_role(name)] = keys[goes_on["from"]]
        budget = _BUDGET / len(set(keys.values()))
        for role, shape in wanted.items():
            block = block_name(layout, role)
            if keys[role] not in distinct:
                seconds = f"some {budget:.0f} seconds on {device.type}"
                say(f"a model like {role}, models.{block}: {seconds}")
            if role in own:
                distinct[role] = networks.measure_finished(
                    own[role].folder,
                    finished_shape(role, own[role], speed),
                    device,
                    compute,
                    budget,
                )._replace(stored=own[role].size())
            elif keys[role] not in distinct:
                distinct[keys[role]] = networks.measure(shape, device, compute, budget)
    say("how long jobs take to start")
    return Speeds(speed, {role: distinct[keys[role]] for role in wanted}, start_seconds())


def describe(costs: list[Cost], predictor: Predictor, device: str) -> str:
    """Return the costs as a table with their sums."""
    rows = [
        [
            link_name(*cost.unit),
            cost.jobs,
            cost.cpu / 3600,
            cost.gpu / 3600 or None,
            size_text(cost.size),
            cost.files,
        ]
        for cost in costs
    ]
    total = [sum(column) for column in zip(*(cost[1:] for cost in costs), strict=True)]
    rows.append(
        ["all", total[0], total[1] / 3600, total[2] / 3600 or None, size_text(total[3]), total[4]]
    )
    headers = ["stage", "jobs", "CPU-hours", "GPU-hours", "disk", "files"]
    align = ["left", *["right"] * 5]
    table = fitted_table(rows, headers, texts=["stage"], floatfmt=",.3f", align=align)
    head = (
        f"{predictor.references():,} references; networks measured on {device}. Nothing counts as "
        "filtered out,\nstopped early or pruned (docs/scaling.md)."
    )
    if unmeasured := predictor.unmeasured():
        head += (
            f"\nNot measured: {', '.join(unmeasured)}. Each of their units counts as one more pass "
            "over the text;\nmodels that they train take longer."
        )
    return f"{head}\n\n{table}"


def fastest(precisions: dict[str, float]) -> str:
    """Return which precision takes the least time on this machine, and how long the others take."""
    first, *others = sorted(precisions, key=precisions.__getitem__)
    times = (f"{name} {precisions[name] / precisions[first]:.1f}" for name in others)
    return (
        f"On this machine {first} is the fastest, {' and '.join(times)} times as slow: "
        f"compute: {{precision: {first}}}"
    )


def _given_lines(texts: list[str]) -> dict[str, int]:
    lines = {}
    for text in texts:
        name, _, count = text.partition("=")
        if not count.isdecimal():
            raise InputError(f"--lines {text}: give CORPUS=N")
        if name in lines:
            raise InputError(f"--lines: {name} stands there twice")
        lines[name] = int(count)
    return lines


def main(argv: list[str] | None = None) -> None:
    """Predict CPU- and GPU-hours, disk and files of a configuration, by stage."""
    parser = CommandParser(description=main.__doc__)
    add_arguments(parser)
    parser.add_argument(
        "--lines",
        nargs="*",
        default=[],
        metavar="CORPUS=N",
        help="lines of corpora that are not here, or too large to be counted",
    )
    parser.add_argument("--json", action="store_true", help="as JSON, in seconds and bytes")
    arguments = parser.parse_args(argv)
    known_lines = _given_lines(arguments.lines)
    # Without a recipe it is the demo, as `paraloom run` has it; its files lie beside the Snakefile.
    demo = [] if arguments.configfile else [f"data={json.dumps(str(_ROOT))}"]
    config = resolve(arguments.configfile, [*demo, *arguments.config])
    if merging(config):
        raise InputError(
            "a run of merges has nothing to estimate: it only reads what other runs have selected; "
            "estimate those"
        )
    if without_bitext(config):
        raise InputError("a run without systems has nothing to estimate: it searches nothing")
    layout = run_layout(config, absent=known_lines)
    for note in layout.notes():
        print(f"note: {note}", file=sys.stderr)
    require_packages()
    import torch

    from workflow_scripts.commands.estimate import text_speed

    say("lines of each corpus")
    lines = text_speed.count_lines(layout, known_lines)
    torch.set_num_threads(1)
    device = choose_device(layout.config["compute"]["device"])
    speeds = calibrate(layout, device)
    predictor = Predictor(layout, lines, speeds, device.type == "cuda")
    costs = predictor.costs()
    precisions = next(iter(speeds.networks.values())).precisions
    if arguments.json:
        units = [{**cost._asdict(), "unit": link_name(*cost.unit)} for cost in costs]
        estimate = {"lines": lines, "units": units, "unmeasured": predictor.unmeasured()}
        estimate["precisions"] = precisions
        print(json.dumps(estimate, indent=2))
    else:
        print(describe(costs, predictor, device.type))
        print(f"\n{fastest(precisions)}")


if __name__ == "__main__":
    run(main)
