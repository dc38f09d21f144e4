"""All stages in the order of the flow, and the layout of a run that consists of them.

A new stage joins here. The Snakefile imports this module: only the standard library and
Snakemake's own dependencies.
"""

from collections.abc import Collection
from pathlib import Path

from workflow_scripts.plan import validation
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.layout import Layout, checks_of
from workflow_scripts.plan.run.linked_layout import LinkedLayout
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.clean.stage import Clean
from workflow_scripts.stages.corpus.stage import Corpus
from workflow_scripts.stages.dual_filter.stage import DualFilter
from workflow_scripts.stages.embed.stage import Embed
from workflow_scripts.stages.encoder.stage import Encoder
from workflow_scripts.stages.evaluate.stage import Evaluate
from workflow_scripts.stages.filter.stage import Filter
from workflow_scripts.stages.generate.stage import Generate
from workflow_scripts.stages.judge.stage import Judge
from workflow_scripts.stages.lexicon.stage import Lexicon
from workflow_scripts.stages.release.stage import Release
from workflow_scripts.stages.rewrite.stage import Rewrite
from workflow_scripts.stages.score.stage import Score
from workflow_scripts.stages.select.stage import Select
from workflow_scripts.stages.subword.stage import Subword
from workflow_scripts.stages.syntax.stage import Syntax
from workflow_scripts.stages.train.stage import Train
from workflow_scripts.stages.transfer.stage import Transfer

STAGES: tuple[type[Stage], ...] = (
    Corpus,
    Clean,
    DualFilter,
    Subword,
    Train,
    Generate,
    Score,
    Judge,
    Select,
    Syntax,
    Filter,
    Embed,
    Evaluate,
    Rewrite,
    Lexicon,
    Transfer,
    Encoder,
    Release,
)


def validate(config: Config) -> None:
    """Check a merged configuration by its schema and by every stage.

    Raises:
        InputError: it names each offending key, what is wrong with it and what would be right.
    """
    validation.validate(config, checks_of(STAGES))


def run_layout(config: Config, absent: Collection[str] = ()) -> Layout:
    """Return the layout of a run; see `Layout`."""
    return Layout(config, STAGES, absent)


def linked_layout(run: Path) -> LinkedLayout:
    """Return the layout of a run that was started, given its folder; see `LinkedLayout`."""
    return LinkedLayout(run, STAGES)
