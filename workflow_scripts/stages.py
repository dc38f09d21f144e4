"""All stages in the order of the flow, and the layout of a run that consists of them.

A new stage joins here. The Snakefile imports this module: only the standard library and
Snakemake's own dependencies.
"""

from collections.abc import Collection

from workflow_scripts.clean.stage import Clean
from workflow_scripts.core import validation
from workflow_scripts.core.config import Config
from workflow_scripts.core.layout import Layout, checks_of
from workflow_scripts.core.stage import Stage
from workflow_scripts.corpus.stage import Corpus
from workflow_scripts.dual_filter.stage import DualFilter
from workflow_scripts.embed.stage import Embed
from workflow_scripts.encoder.stage import Encoder
from workflow_scripts.evaluate.stage import Evaluate
from workflow_scripts.filter.stage import Filter
from workflow_scripts.generate.stage import Generate
from workflow_scripts.judge.stage import Judge
from workflow_scripts.lexicon.stage import Lexicon
from workflow_scripts.release.stage import Release
from workflow_scripts.rewrite.stage import Rewrite
from workflow_scripts.score.stage import Score
from workflow_scripts.select.stage import Select
from workflow_scripts.subword.stage import Subword
from workflow_scripts.syntax.stage import Syntax
from workflow_scripts.train.stage import Train
from workflow_scripts.transfer.stage import Transfer

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
