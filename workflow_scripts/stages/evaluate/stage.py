"""The stage `evaluate`: measures and statistics of each system (docs/evaluate.md)."""

from collections.abc import Sequence
from typing import Any

from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.judges import judge_of
from workflow_scripts.plan.catalogues.rewriters import written_by_rewriter
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.reference_groups import held_out_and_seen
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.evaluate.checks import problems
from workflow_scripts.stages.filter.unit_kinds import column_units
from workflow_scripts.stages.generate.stage import constraints_of
from workflow_scripts.stages.select.stage import Select

# References whose candidates are measured at each bound, at most (evaluate/bounds.py).
BOUNDS_SAMPLE = 2000
# The keys that name the file of people's ratings, and that of the documents of IDF.
_RATINGS_FILE = "evaluate.ratings.file"
_DOCUMENTS = "evaluate.documents"
# What people must do for their ratings to count, as in judge/annotators.py (a test compares them).
_ANNOTATORS = {"min_judgments": 25, "max_failed_controls": 0.1}


class Evaluate(Stage):
    """One unit for each system."""

    name = "evaluate"
    version = 7
    row = "references"
    released = True
    wildcard = "system"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [*self.config["run"]["systems"]]

    def reads(self, instance: str) -> list[Unit]:
        candidates = [("score", instance), ("select", instance)]
        beside = {**self._judged(instance), **self._trees(instance)}
        read = [*candidates, *beside.values(), ("filter", instance)]
        own = [("score", "references")] if self._bounded(instance) else []
        pieces = self.layout.stage(Select).pieces(instance)
        others = [("score", system) for system in self.bilingual(instance)]
        units = [*read, *self.columns(instance).values(), pieces, *own, *others]
        return list(dict.fromkeys(units))

    def records(self, instance: str) -> list[str]:
        bounding = ["bounding"] if self._bounded(instance) else []
        answering = ["answering"] if self.answers_file() else []
        rating = ["rating"] if self._ratings() else []
        comparison = ["comparison"] if self._variants(instance) else []
        beside = ["pairing"] if self.bilingual(instance) else []
        return ["evaluation", "counting", *comparison, *bounding, *answering, *rating, *beside]

    def sections(self) -> dict[int, str]:
        bounds = {45: "workflow_scripts.stages.evaluate.report:bounds"}
        answers = {85: "workflow_scripts.stages.evaluate.report:answers"}
        return {
            7: "workflow_scripts.stages.evaluate.report:cost_and_gain",
            40: "workflow_scripts.stages.evaluate.report:scores",
            **(bounds if self._any_bounded() else {}),
            **(answers if self.answers_file() else {}),
            50: "workflow_scripts.stages.evaluate.report:diversity",
            **(
                {52: "workflow_scripts.stages.evaluate.report:variants"}
                if self._any_variants()
                else {}
            ),
            **({53: "workflow_scripts.stages.evaluate.report:rewriting"} if self._pairs() else {}),
            **({55: "workflow_scripts.stages.evaluate.report:ratings"} if self._ratings() else {}),
            60: "workflow_scripts.stages.evaluate.report:statistics",
            80: "workflow_scripts.stages.evaluate.report:quality",
        }

    def tables(self) -> dict[str, str]:
        names = ["diversity", "between_ranks", "lengths", "exact_lengths", "statistics", "bins"]
        names += ["variants", "variant_lengths"] if self._any_variants() else []
        names += ["variant_pairs"] if self.config["evaluate"].get("variant_pairs") else []
        names += ["rewriting", "rewritten"] if self._pairs() else []
        names += ["bounds"] if self._any_bounded() else []
        kinds = self.statistics_settings()["columns"].values()
        names += ["classifiers"] if "classifier" in kinds else []
        names += ["answers"] if self.answers_file() else []
        names += ["ratings", "ratings_by_length"] if self._ratings() else []
        names += ["variant_ratings"] if self._ratings() and self._any_variants() else []
        return {name: f"workflow_scripts.stages.evaluate.tables:{name}" for name in names}

    def settings(self, instance: str) -> dict[str, Any]:
        corpora = selection.generate_corpora(self.config)
        seen = selection.seen_corpora(self.config)
        all_known = selection.knows_all_seen(self.config)
        part = self.config["evaluate"]
        answers, documents = self.answers_file(), self.documents_file()
        judges = judge_of(self.config, instance)
        return {
            "system": instance,
            "best": self.config["systems"][instance]["select"]["best"],
            # A run of merges has no corpora: the runs that it merges tell them apart.
            "groups": held_out_and_seen(corpora, seen, all_known) if corpora else {},
            "testbed": [name for name in corpora if "testbed" in self.config["corpora"][name]],
            "bootstrap": part["bootstrap"],
            "statistics": self.statistics_settings(),
            # How the trees come about is the part of the syntax stage.
            "syntax": {"levels": part["syntax"]["levels"]} if part["syntax"] else None,
            "seed": self.config["seed"],
            "language": self.config["languages"]["reference"]["code"],
            # Left out where there are none: the names of existing folders follow from the settings.
            **({"select": self.layout.stage(Select).settings(instance)} if judges else {}),
            **({"answers": answers} if answers else {}),
            **({"ratings": self._ratings()} if self._ratings() else {}),
            **({"documents": documents} if documents else {}),
            **({"variants": self._variants(instance)} if self._variants(instance) else {}),
            **({"variant_pairs": pairs} if (pairs := self._variant_pairs(instance)) else {}),
            **({"rewritten": True} if written_by_rewriter(self.config, instance) else {}),
            **({"bilingual": self._shared(instance)} if self.bilingual(instance) else {}),
        }

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if answers := self.answers_file():
            settings["answers"] = [self.sha256(answers, "evaluate.answers")]
        if documents := self.documents_file():
            settings["documents"] = [self.sha256(documents, _DOCUMENTS)]
        if settings.get("ratings"):
            hashes = [self.sha256(path, _RATINGS_FILE) for path in self.ratings_files()]
            settings["ratings"] = {**settings["ratings"], "file": hashes}
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        answers, documents = self.answers_file(), self.documents_file()
        return {
            **({answers: self.sha256(answers, "evaluate.answers")} if answers else {}),
            **({documents: self.sha256(documents, _DOCUMENTS)} if documents else {}),
            **{path: self.sha256(path, _RATINGS_FILE) for path in self.ratings_files()},
        }

    def answers_file(self) -> str | None:
        """Return the file of right answers, if the run has one."""
        path = self.config["evaluate"].get("answers")
        return selection.located(self.config, [path])[0] if path else None

    def documents_file(self) -> str | None:
        """Return the file whose lines are the documents of IDF, if the run has one."""
        path = self.config["evaluate"].get("documents")
        return selection.located(self.config, [path])[0] if path else None

    def ratings_files(self) -> list[str]:
        """Return where the file of people's ratings is; none if the run has none."""
        block = self.config["evaluate"].get("ratings")
        return [*selection.located(self.config, [block["file"]])] if block else []

    def _ratings(self) -> dict[str, Any]:
        """Return which annotators count, where the run has ratings; else nothing."""
        block = self.config["evaluate"].get("ratings") or {}
        return {key: block.get(key, usual) for key, usual in _ANNOTATORS.items()} if block else {}

    def _variants(self, system: str) -> list[str]:
        """Return the names of a system's variants; none if it has none."""
        return [*(constraints_of(self.config, system) or {}).get("variants", {})]

    def _variant_pairs(self, system: str) -> list[list[str]]:
        """Return the pairs of a system's variants that are compared with each other."""
        own = self._variants(system)
        pairs = self.config["evaluate"].get("variant_pairs", [])
        return [pair for pair in pairs if all(name in own for name in pair)]

    def _pairs(self) -> list[list[str]]:
        """Return the pairs of systems that are compared, bilingual and monolingual."""
        return self.config["evaluate"].get("rewriting", [])

    def bilingual(self, system: str) -> list[str]:
        """Return the systems that a system is compared with whose candidates a rewriter writes."""
        return [first for first, second in self._pairs() if second == system]

    def _shared(self, system: str) -> dict[str, list[str]]:
        """Return these systems with the variants that both have."""
        own = self._variants(system)
        theirs = {other: self._variants(other) for other in self.bilingual(system)}
        return {
            other: [variant for variant in own if variant in variants]
            for other, variants in theirs.items()
        }

    def _bounded(self, system: str) -> bool:
        """Tell whether bounds on the sum are shown: the references and the candidates have one."""
        scored = selection.reference_scores(self.config)
        return scored and not written_by_rewriter(self.config, system)

    def _any_bounded(self) -> bool:
        return any(map(self._bounded, self.config["run"]["systems"]))

    def _any_variants(self) -> bool:
        return any(self._variants(system) for system in self.config["run"]["systems"])

    def statistics_settings(self) -> dict[str, Any]:
        """Return the settings of the corpus statistics: the pairs, and columns by kind."""
        part = self.config["evaluate"]
        kinds = {name: self._kind(name) for name in part["columns"]}
        return {
            "pairs": part["pairs"],
            "columns": kinds,
            "seed": self.config["seed"],
            **selection.punctuation(self.config),
        }

    def _kind(self, column: str) -> str:
        """Return the kind of a column; of a feature its name."""
        ((kind, block),) = self.config["columns"][column].items()
        return block["name"] if kind == "feature" else kind

    def columns(self, system: str) -> dict[str, Unit]:
        """Return the units of the columns that a system's statistics show beside its pairs."""
        return column_units(self.config, system, self.config["evaluate"]["columns"])

    def measures_job(self, at: Wildcards) -> Job:
        """Return the job that measures the paraphrases of a system."""
        selected, pieces = ("select", at.system), self.layout.stage(Select).pieces(at.system)
        return self._job(
            "evaluate.measures",
            at.system,
            {
                **{"folder": selected, "scored": ("score", at.system)},
                **self._judged(at.system),
                **self._trees(at.system),
            },
            awaits=[self.file(selected, "threshold.json"), self.file(pieces, "model.json")],
            options={"model": self.layout.folder(*pieces)},
        )

    def variants_job(self, at: Wildcards) -> Job:
        """Return the job that measures the variants of a system."""
        model = ("train", "forward")
        return self._job(
            "evaluate.variant_measures",
            at.system,
            {"scored": ("score", at.system), **self._trees_of_pairs(at.system)},
            awaits=[self.file(model, "model.json")],
            options={"model": self.layout.folder(*model)},
        )

    def bounds_job(self, at: Wildcards) -> Job:
        """Return the job that says what every bound would keep of a system's candidates."""
        return self._job(
            "evaluate.bounds",
            at.system,
            {"scored": ("score", at.system), "references": ("score", "references")},
            reads={"threshold": self.file(("select", at.system), "threshold.json")},
        )

    def answers_job(self, at: Wildcards) -> Job:
        """Return the job that compares the paraphrases of a system with right answers."""
        answers = self.answers_file()
        return self._job(
            "evaluate.run_answers",
            at.system,
            {"folder": ("select", at.system)},
            users=[answers] if answers else [],
            options={"answers": answers},
            config=False,
            inputs=True,
        )

    def ratings_job(self, at: Wildcards) -> Job:
        """Return the job that tells what people say of the paraphrases of a system."""
        ratings, pieces = self.ratings_files(), self.layout.stage(Select).pieces(at.system)
        return self._job(
            "evaluate.system_ratings",
            at.system,
            {
                **{"folder": ("select", at.system), "scored": ("score", at.system)},
                **self._trees(at.system),
            },
            awaits=[self.file(pieces, "model.json")],
            users=ratings,
            options={"ratings": ratings, "model": self.layout.folder(*pieces)},
            inputs=True,
        )

    def statistics_job(self, at: Wildcards) -> Job:
        """Return the job that counts over the pairs of a system."""
        columns, documents = self.columns(at.system), self.documents_file()
        return self._job(
            "evaluate.statistics",
            at.system,
            {
                **{"folder": ("filter", at.system), "scored": ("score", at.system)},
                **self._trees(at.system),
            },
            awaits=[self.manifest(unit) for unit in columns.values()],
            users=[documents] if documents else [],
            options={
                "config": self.statistics_settings(),
                "values": self.named_folders(columns),
                "documents": documents,
            },
            config=False,
            inputs=True,
        )

    def rewriting_job(self, at: Wildcards) -> Job:
        """Return the job that puts a system that a rewriter writes beside others."""
        bilingual = {system: ("score", system) for system in self.bilingual(at.system)}
        return self._job(
            "evaluate.rewriting",
            at.system,
            {"scored": ("score", at.system)},
            awaits=[self.manifest(unit) for unit in bilingual.values()],
            options={"bilingual": self.named_folders(bilingual)},
        )

    def _judged(self, system: str) -> dict[str, Unit]:
        """Return the unit with a judge's probabilities, where the system has one."""
        return {"judged": ("judge", system)} if judge_of(self.config, system) else {}

    def _trees(self, system: str) -> dict[str, Unit]:
        """Return the unit with the trees of a system's sentences, where they are parsed."""
        return {"trees": ("syntax", system)} if selection.parsed(self.config) else {}

    def _trees_of_pairs(self, system: str) -> dict[str, Unit]:
        """Return the units with the trees of variants that are compared with each other."""
        trees = self._trees(system) if self._variant_pairs(system) else {}
        return {"folder": ("select", system), **trees} if trees else {}

    def _job(
        self,
        command: str,
        system: str,
        units: dict[str, Unit],
        awaits: Sequence[str] = (),
        options: dict[str, Any] | None = None,
        **more: Any,
    ) -> Job:
        """Return a job on all shards of some units, whose folders it is told by these options.

        It waits for their manifests.
        """
        return Job(
            command,
            system,
            awaits=[*map(self.manifest, units.values()), *awaits],
            options={
                **{name: self.layout.folder(*unit) for name, unit in units.items()},
                "shards": self.config["shards"]["late"],
                **(options or {}),
            },
            **more,
        )
