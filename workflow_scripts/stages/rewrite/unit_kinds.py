"""The kinds of units of the stage `rewrite`: what it says of each (docs/rewrite.md)."""

from typing import Any, ClassVar

from workflow_scripts.core.files.paths import Located
from workflow_scripts.core.text.language_codes import short
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.model_blocks import finished
from workflow_scripts.plan.catalogues.rewriters import (
    DEV,
    TEST,
    TRAIN,
    continued,
    finished_rewriter,
    model_name,
    model_of,
    noise,
    rewriter,
    rewriter_role,
    rewriter_training_sets,
)
from workflow_scripts.plan.catalogues.training_sets import outside_corpora
from workflow_scripts.plan.catalogues.vocabularies import effective
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.plan.unit_kind import UnitKind
from workflow_scripts.stages.syntax.parser_files import PARSER_KEY, parser_files

# What follows a rewriter's name in the names of its units; the model itself has the bare name.
PAIRS, SUBWORD, MEASURES = "-pairs", "-subword", "-measures"
# Units of a rewriter with templates: trees, pairs with templates, how well it follows them.
PARSES, TEMPLATES, CONTROL = "-parses", "-templates", "-control"
# A unit of a rewriter with noise: how much damage it repairs.
REPAIR = "-repair"


class RewriterUnit(UnitKind):
    """A unit of one rewriter.

    Attributes:
        part: what follows the rewriter's name in the name of such a unit.
        name: of the rewriter.
        block: of the rewriter, with its defaults.
        language: the code of the references' language.
    """

    part: ClassVar[str]

    def __init__(self, stage: Stage, name: str):
        super().__init__(stage, f"{name}{self.part}")
        self.name = name
        self.block = rewriter(self.config, name)
        self.language = self.config["languages"]["reference"]["code"]

    def of_rewriter(self, *parts: str) -> list[Unit]:
        """Return other units of the rewriter, by what follows its name."""
        return [self.stage.unit(f"{self.name}{part}") for part in parts]

    def templates(self) -> dict[str, Any] | None:
        """Return the block of the rewriter's templates; None: it has none."""
        return templates(self.config, self.name)

    def measuring(self) -> dict[str, Any]:
        """Return the settings that all measures of the rewriter share."""
        return {
            "beam": self.block["beam"],
            "bootstrap": self.config["evaluate"]["bootstrap"],
            "language": self.language,
            "testbed": self._on_testbed(),
        }

    def _on_testbed(self) -> bool:
        """Tell whether meanings of references are known, since the testbed made them."""
        names = selection.generate_corpora(self.config)
        return any("testbed" in self.config["corpora"][name] for name in names)


class RewriterPairs(RewriterUnit):
    """`<rewriter>-pairs`: the pairs that it learns from and is tested on."""

    part = PAIRS

    def reads(self) -> list[Unit]:
        sets = rewriter_training_sets(self.config, self.name)
        return [*(("filter", training_set) for training_set in sets), ("embed", "evaluation")]

    def shards(self) -> int:
        return self.config["shards"]["early"]

    def jobs(self) -> int:
        return 1  # all shards in one

    def settings(self) -> dict[str, Any]:
        damage = noise(self.config, self.name)
        damaged = {"noise": damage, "language": short(self.language)}
        return {
            "write": self.block["write"],
            "held_out": self.block["held_out"],
            "seed": self.block["seed"],
            **(damaged if damage else {}),
        }


class RewriterSegments(RewriterUnit):
    """`<rewriter>-subword`: the segments of these pairs."""

    part = SUBWORD

    def reads(self) -> list[Unit]:
        role = vocabulary_role(self.config, self.name)
        texts = self.of_rewriter(TEMPLATES if self.templates() else PAIRS)
        return [*texts, *([("train", role)] if role else [])]

    def shards(self) -> int:
        return self.config["shards"]["early"]

    def records(self) -> list[str]:
        return ["source", "reference"]

    def settings(self) -> dict[str, Any]:
        """Return the settings of the stage `subword`, with splits in place of corpora."""
        shared = dict(self.config["subword"])
        shared.pop("filter_vocab_size", None)
        shared["samples"] = self.block.get("samples", shared["samples"])
        size = self.block.get("vocab_size", shared["vocab_size"]["reference"])
        # A model that is gone on from knows the most probable segmentation alone, and others cut
        # the symbols of templates.
        if begins_with(self.config, self.name) or self.templates():
            shared["samples"] = 0
        return {
            **effective(shared),
            "vocab_size": {"source": size, "reference": size},
            "train": [TRAIN],
            "dev": DEV,
            "test": TEST,
            "seed": self.block["seed"],
        }


class RewriterModel(RewriterUnit):
    """`<rewriter>`: the model."""

    part = ""

    def reads(self) -> list[Unit]:
        role = begins_with(self.config, self.name)
        texts = [TEMPLATES] if self.templates() else []
        return [*self.of_rewriter(SUBWORD, PAIRS, *texts), *([("train", role)] if role else [])]

    def records(self) -> list[str]:
        return ["model"]

    def trains(self) -> bool:
        return True

    def settings(self) -> dict[str, Any]:
        return {
            "role": self.name,
            "direction": "forward",
            **self._trained(),
            "seed": self.block["seed"],
            "about": self._about(),
        }

    def content(self) -> dict[str, Any]:
        # What is said of a model changes nothing in it.
        return {key: value for key, value in self.settings().items() if key != "about"}

    def _trained(self) -> dict[str, Any]:
        """Return the settings of the model that is trained from scratch, or gone on with."""
        if block := continued(self.config, self.name):
            return {"continued": block}
        return {"model": model_of(self.config, self.name)}

    def _about(self) -> dict[str, Any]:
        """Return what rewriter.json says of a rewriter besides the counts of its pairs."""
        block, role = self.block, begins_with(self.config, self.name)
        sets = rewriter_training_sets(self.config, self.name)
        inputs, models = self._licences(sets), self.config["train"]["models"]
        return {
            "name": self.name,
            "language": self.language,
            "training_sets": sets,
            "systems": list(dict.fromkeys(training_set.partition("-")[2] for training_set in sets)),
            "write": block["write"],
            "subword": vocabulary_role(self.config, self.name) or "own",
            **({"templates": self.templates()} if self.templates() else {}),
            "noise": noise(self.config, self.name),
            **({"continued": {"from": role, "model": models[role]}} if role else {}),
            "licence": self._licence(inputs),
            "inputs": inputs,
        }

    def _licence(self, inputs: dict[str, dict[str, str | None]]) -> str:
        """Return the licence that the run states; or those of what the weights were learnt from.

        These are the corpora, and the finished model that training went on from.
        """
        if stated := self.config["release"]["licence"]:
            return stated
        role = begins_with(self.config, self.name)
        begun_with = [licence for model, licence in inputs["models"].items() if model == role]
        licences = dict.fromkeys([*inputs["corpora"].values(), *begun_with])
        return "unknown" if None in licences else "; ".join(map(str, licences))

    def _licences(self, sets: list[str]) -> dict[str, dict[str, str | None]]:
        """Return the licences of what training sets were made of, None where it is not stated."""
        corpora = self.config["corpora"]
        systems = {training_set.partition("-")[2] for training_set in sets}
        outside = [name for name in outside_corpora(self.config) if name in systems]
        models = {
            role: selection.role_model(self.config, role) for role in selection.roles(self.config)
        }
        return {
            "corpora": {
                name: corpora[name].get(
                    "licence", "cc0-1.0" if "testbed" in corpora[name] else None
                )
                for name in self.config["run"]["corpora"]
            }
            | dict.fromkeys(outside),
            "models": {
                role: block.get("licence") for role, block in models.items() if finished(block)
            },
        }


class FinishedRewriter(RewriterModel):
    """`<rewriter>`: a finished model of the stage `train`, with what is said of it as a rewriter.

    Its training sets only measure it.
    """

    def reads(self) -> list[Unit]:
        return [("train", rewriter_role(self.name))]

    def trains(self) -> bool:
        return False

    def settings(self) -> dict[str, Any]:
        prefix = self.block.get("prefix", "")
        return {"prefix": prefix, "about": self._about() | {"prefix": prefix}}

    def _about(self) -> dict[str, Any]:
        model = model_name(self.config, self.name)
        licence = self.config["models"][model].get("licence")
        inputs = {"corpora": {}, "models": {rewriter_role(self.name): licence}}
        return {
            **super()._about(),
            **{"finished": model, "pairs": {}, "references": {}, "left_out": {}},
            **{"licence": licence or "unknown", "inputs": inputs},
        }


class RewriterMeasures(RewriterUnit):
    """`<rewriter>-measures`: how well it paraphrases."""

    part = MEASURES

    def reads(self) -> list[Unit]:
        return self.of_rewriter(PAIRS, "")

    def records(self) -> list[str]:
        return ["paraphrases"]

    def settings(self) -> dict[str, Any]:
        return {
            **self.measuring(),
            "seed": self.block["seed"],
            **({"templates": True} if self.templates() else {}),
        }


class RewriterRepair(RewriterUnit):
    """`<rewriter>-repair`: how much damage it repairs."""

    part = REPAIR

    def reads(self) -> list[Unit]:
        return self.of_rewriter(PAIRS, "")

    def records(self) -> list[str]:
        return ["sentences"]

    def settings(self) -> dict[str, Any]:
        damage = noise(self.config, self.name)
        assert damage is not None
        return {
            "kinds": list(damage["weights"]),
            **self.measuring(),
            "language": short(self.language),
            "seed": self.block["seed"],
        }


class WithTemplates(RewriterUnit):
    """A unit of a rewriter with templates (docs/syntax-control.md)."""

    def parser(self) -> dict[str, Any]:
        """Return the settings of the parser."""
        block = self.config["evaluate"]["syntax"]
        folder = Located(block["folder"])
        return {"package": block["package"], "language": self.language, "folder": folder}

    def parser_content(self) -> dict[str, Any]:
        """Return what a digest covers of the parser: its settings, with the files by content."""
        hashes = self.parser_hashes()
        folder = {name: hashes[path] for name, path in self._parser_files().items()}
        return {**self.parser(), "folder": folder}

    def parser_hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the parser's files, by path."""
        files = self._parser_files().values()
        return {path: self.stage.sha256(path, f"{PARSER_KEY}.folder") for path in files}

    def _parser_files(self) -> dict[str, str]:
        """Return the files of the parser that a unit's jobs load, by what they are."""
        block = self.config["evaluate"]["syntax"]
        return parser_files(block["folder"], self.language, block["package"])

    def swapping(self) -> dict[str, Any]:
        """Return the settings of the templates that are exchanged.

        Where pairs are learnt in both directions, there is nothing to exchange.
        """
        return {"swap": len(self.block["write"]) == 1, "seed": self.block["seed"]}


class RewriterParses(WithTemplates):
    """`<rewriter>-parses`: the trees of its pairs."""

    part = PARSES

    def reads(self) -> list[Unit]:
        return self.of_rewriter(PAIRS)

    def shards(self) -> int:
        return self.config["shards"]["early"]

    def settings(self) -> dict[str, Any]:
        return self.parser()

    def content(self) -> dict[str, Any]:
        return self.parser_content()

    def inputs(self) -> dict[str, str]:
        return self.parser_hashes()


class RewriterTemplates(WithTemplates):
    """`<rewriter>-templates`: its pairs with templates."""

    part = TEMPLATES

    def reads(self) -> list[Unit]:
        return self.of_rewriter(PAIRS, PARSES)

    def shards(self) -> int:
        return self.config["shards"]["early"]

    def records(self) -> list[str]:
        return ["templates"]

    def jobs(self) -> int:
        return 1  # all shards in one

    def settings(self) -> dict[str, Any]:
        block = self.templates() or {}
        # `equal` stands here even if it is 0: records of before that key lack counts.
        return {**self.swapping(), "free": block["free"], "equal": block["equal"]}


class RewriterControl(WithTemplates):
    """`<rewriter>-control`: how well it follows templates."""

    part = CONTROL

    def reads(self) -> list[Unit]:
        return self.of_rewriter(PAIRS, PARSES, TEMPLATES, "")

    def records(self) -> list[str]:
        return ["answers"]

    def settings(self) -> dict[str, Any]:
        block = self.templates() or {}
        return {
            **self.swapping(),
            "parser": self.parser(),
            "most": block["most"],
            "sentences": block["sentences"],
            **self.measuring(),
        }

    def content(self) -> dict[str, Any]:
        return {**self.settings(), "parser": self.parser_content()}

    def inputs(self) -> dict[str, str]:
        return self.parser_hashes()


def units_of(stage: Stage, name: str) -> list[RewriterUnit]:
    """Return the units of one rewriter, in the order in which they are made."""
    if finished_rewriter(stage.config, name):
        model = FinishedRewriter(stage, name)
        if not model.block["training_sets"]:
            return [model]
        return [RewriterPairs(stage, name), model, RewriterMeasures(stage, name)]
    learnt: list[RewriterUnit] = [RewriterPairs(stage, name)]
    measured: list[RewriterUnit] = [RewriterMeasures(stage, name)]
    if templates(stage.config, name):
        learnt += [RewriterParses(stage, name), RewriterTemplates(stage, name)]
        measured += [RewriterControl(stage, name)]
    if noise(stage.config, name):
        measured += [RewriterRepair(stage, name)]
    return [*learnt, RewriterSegments(stage, name), RewriterModel(stage, name), *measured]


def templates(config: Config, name: str) -> dict[str, Any] | None:
    """Return the block of a rewriter's templates with its defaults; None: it has none."""
    block = rewriter(config, name)["templates"]
    return None if block is None else filled(block, "rewriter_templates")


def vocabulary_role(config: Config, name: str) -> str | None:
    """Return the role of the model whose vocabulary a rewriter takes; None: it has its own."""
    if begun_with := begins_with(config, name):
        return begun_with
    subword = rewriter(config, name)["subword"]
    return None if subword == "own" else subword


def begins_with(config: Config, name: str) -> str | None:
    """Return the role of the model that a rewriter's training goes on from; None: of none."""
    block = continued(config, name)
    return None if block is None else block["from"]
