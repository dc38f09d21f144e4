"""The stage `rewrite`: models that paraphrase within the language (docs/rewrite.md)."""

from typing import Any

from workflow_scripts.core.files.paths import Located
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.model_blocks import finished
from workflow_scripts.plan.catalogues.rewriters import (
    DEV,
    TEST,
    TRAIN,
    continued,
    model_of,
    noise,
    rewriter,
    rewriter_training_sets,
    rewriters,
    short,
)
from workflow_scripts.plan.catalogues.training_sets import outside_corpora
from workflow_scripts.plan.catalogues.vocabularies import effective, vocabulary_settings
from workflow_scripts.plan.schema import filled
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.rewrite.checks import problems
from workflow_scripts.stages.syntax.parser_files import PARSER_KEY, parser_files

# What follows a rewriter's name in the names of its units; the model itself has the bare name.
PAIRS, SUBWORD, MEASURES = "-pairs", "-subword", "-measures"
# Units of a rewriter with templates: trees, pairs with templates, how well it follows them.
PARSES, TEMPLATES, CONTROL = "-parses", "-templates", "-control"
# A unit of a rewriter with noise: how much damage it repairs.
REPAIR = "-repair"
_SHARDED = (PAIRS, PARSES, TEMPLATES, SUBWORD)


class Rewrite(Stage):
    """Four units of each rewriter: its pairs, their segments, the model, and its measures.

    An instance is `<rewriter>-pairs`, `<rewriter>-subword`, `<rewriter>` or `<rewriter>-measures`.
    One with templates has three more (docs/rewrite-kinds.md): `<rewriter>-parses`,
    `<rewriter>-templates` and `<rewriter>-control`.
    """

    name = "rewrite"
    version = 1
    row = "pairs"
    released = True
    wildcard = "rewriter"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [each for name in rewriters(self.config) for each in self._units_of(name)]

    def _units_of(self, name: str) -> list[str]:
        """Return the instances of one rewriter, in the order in which they are made."""
        parts = [PAIRS, SUBWORD, "", MEASURES]
        if self.templates(name):
            parts = [PAIRS, PARSES, TEMPLATES, SUBWORD, "", MEASURES, CONTROL]
        repair = [REPAIR] if noise(self.config, name) else []
        return [f"{name}{part}" for part in [*parts, *repair]]

    def reads(self, instance: str) -> list[Unit]:
        name, part = parted(instance)
        if part == PAIRS:
            sets = rewriter_training_sets(self.config, name)
            return [*(("filter", each) for each in sets), ("embed", "evaluation")]
        if part == SUBWORD:
            role = self.vocabulary_role(name)
            return [self.texts(name), *([("train", role)] if role else [])]
        before = {
            MEASURES: [PAIRS, ""],
            REPAIR: [PAIRS, ""],
            PARSES: [PAIRS],
            TEMPLATES: [PAIRS, PARSES],
            CONTROL: [PAIRS, PARSES, TEMPLATES, ""],
            "": [SUBWORD, PAIRS, *([TEMPLATES] if self.templates(name) else [])],
        }
        units = [self.unit(f"{name}{each}") for each in before[part]]
        begun_with = None if part else self.begins_with(name)
        return [*units, *([("train", begun_with)] if begun_with else [])]

    def templates(self, name: str) -> dict[str, Any] | None:
        """Return the block of a rewriter's templates with its defaults; None: it has none."""
        block = rewriter(self.config, name)["templates"]
        return None if block is None else filled(block, "rewriter_templates")

    def texts(self, name: str) -> Unit:
        """Return the unit whose shards have the texts that a rewriter's model reads and writes."""
        return self.unit(f"{name}{TEMPLATES if self.templates(name) else PAIRS}")

    def vocabulary_role(self, name: str) -> str | None:
        """Return the role of the model whose vocabulary a rewriter takes; None: it has its own."""
        if begun_with := self.begins_with(name):
            return begun_with
        subword = rewriter(self.config, name)["subword"]
        return None if subword == "own" else subword

    def begins_with(self, name: str) -> str | None:
        """Return the role of the model that a rewriter's training goes on from; None: of none."""
        block = continued(self.config, name)
        return None if block is None else block["from"]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"] if parted(instance)[1] in _SHARDED else 0

    def records(self, instance: str) -> list[str]:
        of_parts = {
            **{PAIRS: [], SUBWORD: ["source", "reference"], MEASURES: ["paraphrases"]},
            **{PARSES: [], TEMPLATES: ["templates"], CONTROL: ["answers"]},
            **{REPAIR: ["sentences"], "": ["model"]},
        }
        return of_parts[parted(instance)[1]]

    def files(self, instance: str) -> list[str]:
        return self.shard_files(instance)

    def jobs(self, instance: str) -> int:
        # All shards in one.
        return 1 if parted(instance)[1] in (PAIRS, TEMPLATES) else super().jobs(instance)

    def wildcards(self) -> dict[str, list[str]]:
        names = rewriters(self.config)
        going_on = [name for name in names if self.begins_with(name)]
        return {
            "rewriter": names,
            "trained_rewriter": [name for name in names if name not in going_on],
            "continued_rewriter": going_on,
        }

    def sections(self) -> dict[int, str]:
        module = "workflow_scripts.stages.rewrite"
        return {
            75: f"{module}.report:rewriters",
            **({76: f"{module}.control_report:syntactic_control"} if self._controlled() else {}),
            **({77: f"{module}.repair_report:repair"} if self._noisy() else {}),
        }

    def tables(self) -> dict[str, str]:
        module = "workflow_scripts.stages.rewrite"
        control = ("control_table", "template_table") if self._controlled() else ()
        repair = {"repair": f"{module}.repair_report:repair_table"} if self._noisy() else {}
        return {
            "rewriters": f"{module}.report:rewriters_table",
            **{name: f"{module}.control_report:{name}" for name in control},
            **repair,
        }

    def _controlled(self) -> bool:
        """Tell whether a rewriter has templates."""
        return any(map(self.templates, rewriters(self.config)))

    def _noisy(self) -> bool:
        """Tell whether a rewriter has damage on what it reads."""
        return any(noise(self.config, name) for name in rewriters(self.config))

    def trains(self, instance: str) -> bool:
        return not parted(instance)[1]

    def settings(self, instance: str) -> dict[str, Any]:
        name, part = parted(instance)
        block = rewriter(self.config, name)
        if part == PAIRS:
            return {
                "write": block["write"],
                "held_out": block["held_out"],
                "seed": block["seed"],
                **self._noise_settings(name),
            }
        if part == SUBWORD:
            return self._segment_settings(name)
        if part == MEASURES:
            return {
                "beam": block["beam"],
                "bootstrap": self.config["evaluate"]["bootstrap"],
                "language": self.config["languages"]["reference"]["code"],
                "testbed": self._on_testbed(),
                "seed": block["seed"],
                **({"templates": True} if self.templates(name) else {}),
            }
        if part in (PARSES, TEMPLATES, CONTROL):
            return self._template_settings(name)[part]
        if part == REPAIR:
            settings = noise(self.config, name)
            assert settings is not None
            return {
                "kinds": list(settings["weights"]),
                "beam": block["beam"],
                "bootstrap": self.config["evaluate"]["bootstrap"],
                "language": self._short_language(),
                "testbed": self._on_testbed(),
                "seed": block["seed"],
            }
        return {
            "role": name,
            "direction": "forward",
            **self._trained(name),
            "seed": block["seed"],
            "about": self._about(name),
        }

    def _trained(self, name: str) -> dict[str, Any]:
        """Return the settings of the model that is trained from scratch, or gone on with."""
        if block := continued(self.config, name):
            return {"continued": block}
        return {"model": model_of(self.config, name)}

    def content(self, instance: str) -> dict[str, Any]:
        # What is said of a model changes nothing in it.
        content = {key: each for key, each in self.settings(instance).items() if key != "about"}
        if files := self._parser_files(instance):
            hashes = self.inputs(instance)
            found = {"folder": {name: hashes[path] for name, path in files.items()}}
            return content | (
                {"parser": content["parser"] | found} if "parser" in content else found
            )
        return content

    def _about(self, name: str) -> dict[str, Any]:
        """Return what rewriter.json says of a rewriter besides the counts of its pairs."""
        block = rewriter(self.config, name)
        sets = rewriter_training_sets(self.config, name)
        inputs = self._licences(sets)
        return {
            "name": name,
            "language": self.config["languages"]["reference"]["code"],
            "training_sets": sets,
            "systems": list(dict.fromkeys(each.partition("-")[2] for each in sets)),
            "write": block["write"],
            "subword": self.vocabulary_role(name) or "own",
            **({"templates": self.templates(name)} if self.templates(name) else {}),
            "noise": noise(self.config, name),
            **({"continued": self._beginning(role)} if (role := self.begins_with(name)) else {}),
            "licence": self._licence(name, inputs),
            "inputs": inputs,
        }

    def _beginning(self, role: str) -> dict[str, str]:
        """Return which model a rewriter went on from: its role, and its entry of `models`."""
        return {"from": role, "model": self.config["train"]["models"][role]}

    def _licence(self, name: str, inputs: dict[str, dict[str, str | None]]) -> str:
        """Return the licence that the run states; or those of what the weights were learnt from.

        These are the corpora, and the finished model that training went on from.
        """
        if stated := self.config["release"]["licence"]:
            return stated
        begun_with = [
            each for role, each in inputs["models"].items() if role == self.begins_with(name)
        ]
        licences = dict.fromkeys([*inputs["corpora"].values(), *begun_with])
        return "unknown" if None in licences else "; ".join(map(str, licences))

    def _licences(self, sets: list[str]) -> dict[str, dict[str, str | None]]:
        """Return the licences of what training sets were made of, None where it is not stated."""
        corpora = self.config["corpora"]
        systems = {each.partition("-")[2] for each in sets}
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

    def _noise_settings(self, name: str) -> dict[str, Any]:
        """Return the settings of the damage on what a rewriter reads; none without."""
        settings = noise(self.config, name)
        if settings is None:
            return {}
        return {"noise": settings, "language": self._short_language()}

    def _short_language(self) -> str:
        return short(self.config["languages"]["reference"]["code"])

    def _on_testbed(self) -> bool:
        """Tell whether meanings of references are known, since the testbed made them."""
        names = selection.generate_corpora(self.config)
        return any("testbed" in self.config["corpora"][name] for name in names)

    def _template_settings(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the settings of the units of templates, by what follows the rewriter's name."""
        block, of_templates = rewriter(self.config, name), self.templates(name) or {}
        language = self.config["languages"]["reference"]["code"]
        part = self.config["evaluate"]["syntax"]
        parser = {"package": part["package"], "language": language}
        parser["folder"] = Located(part["folder"])
        # Where pairs are learnt in both directions, there is nothing to exchange.
        swap = {"swap": len(block["write"]) == 1, "seed": block["seed"]}
        return {
            PARSES: parser,
            # `equal` stands here even if it is 0: records of before that key lack counts.
            TEMPLATES: {**swap, "free": of_templates["free"], "equal": of_templates["equal"]},
            CONTROL: {
                **swap,
                "parser": parser,
                "most": of_templates["most"],
                "sentences": of_templates["sentences"],
                "beam": block["beam"],
                "bootstrap": self.config["evaluate"]["bootstrap"],
                "language": language,
                "testbed": self._on_testbed(),
            },
        }

    def inputs(self, instance: str) -> dict[str, str]:
        files = self._parser_files(instance).values()
        return {path: self.sha256(path, f"{PARSER_KEY}.folder") for path in files}

    def _parser_files(self, instance: str) -> dict[str, str]:
        """Return the files of the parser that a unit's jobs load, by what they are."""
        if parted(instance)[1] not in (PARSES, CONTROL):
            return {}
        part = self.config["evaluate"]["syntax"]
        language = self.config["languages"]["reference"]["code"]
        return parser_files(part["folder"], language, part["package"])

    def _segment_settings(self, name: str) -> dict[str, Any]:
        """Return the settings of the stage `subword`, with splits in place of corpora."""
        block, shared = rewriter(self.config, name), dict(self.config["subword"])
        shared.pop("filter_vocab_size", None)
        shared["samples"] = block.get("samples", shared["samples"])
        size = block.get("vocab_size", shared["vocab_size"]["reference"])
        # A model that is gone on from knows the most probable segmentation alone, and others cut
        # the symbols of templates.
        if self.begins_with(name) or self.templates(name):
            shared["samples"] = 0
        return {
            **effective(shared),
            "vocab_size": {"source": size, "reference": size},
            "train": [TRAIN],
            "dev": DEV,
            "test": TEST,
            "seed": block["seed"],
        }

    def vocabulary_settings(self, name: str, side: str) -> dict[str, Any]:
        """Return the settings of the SentencePiece model of one side."""
        return vocabulary_settings(self._segment_settings(name), side)


def parted(instance: str) -> tuple[str, str]:
    """Return the name of the rewriter of an instance, and what follows it."""
    name, dash, part = instance.partition("-")
    return name, dash + part
