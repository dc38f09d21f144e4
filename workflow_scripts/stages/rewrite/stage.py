"""The stage `rewrite`: models that paraphrase within the language (docs/rewrite.md)."""

from typing import Any

from workflow_scripts.plan.catalogues.rewriters import noise, rewriters
from workflow_scripts.plan.catalogues.vocabularies import vocabulary_settings
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.unit_kind import StageOfKinds, UnitKind
from workflow_scripts.stages.rewrite import unit_kinds
from workflow_scripts.stages.rewrite.checks import problems


class Rewrite(StageOfKinds):
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

    def kinds(self) -> list[UnitKind]:
        names = rewriters(self.config)
        return [unit for name in names for unit in unit_kinds.units_of(self, name)]

    def templates(self, name: str) -> dict[str, Any] | None:
        """Return the block of a rewriter's templates with its defaults; None: it has none."""
        return unit_kinds.templates(self.config, name)

    def texts(self, name: str) -> Unit:
        """Return the unit whose shards have the texts that a rewriter's model reads and writes."""
        part = unit_kinds.TEMPLATES if self.templates(name) else unit_kinds.PAIRS
        return self.unit(f"{name}{part}")

    def vocabulary_role(self, name: str) -> str | None:
        """Return the role of the model whose vocabulary a rewriter takes; None: it has its own."""
        return unit_kinds.vocabulary_role(self.config, name)

    def begins_with(self, name: str) -> str | None:
        """Return the role of the model that a rewriter's training goes on from; None: of none."""
        return unit_kinds.begins_with(self.config, name)

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

    def vocabulary_settings(self, name: str, side: str) -> dict[str, Any]:
        """Return the settings of the SentencePiece model of one side."""
        return vocabulary_settings(self.settings(f"{name}{unit_kinds.SUBWORD}"), side)
