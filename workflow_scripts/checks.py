"""Every check of a configuration: here the stages' own meet.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from workflow_scripts.clean import checks as clean_checks
from workflow_scripts.core import checks as core_checks
from workflow_scripts.core import config as core
from workflow_scripts.corpus import checks as corpus_checks
from workflow_scripts.dual_filter import checks as dual_filter_checks
from workflow_scripts.embed import checks as embed_checks
from workflow_scripts.evaluate import checks as evaluate_checks
from workflow_scripts.filter import checks as filter_checks
from workflow_scripts.generate import checks as generate_checks
from workflow_scripts.select import checks as select_checks
from workflow_scripts.subword import checks as subword_checks
from workflow_scripts.train import checks as train_checks

# In the order in which problems are told: what belongs to no stage, then along the flow.
CHECKS: tuple[core.Check, ...] = (
    core_checks.problems,
    corpus_checks.problems,
    clean_checks.problems,
    dual_filter_checks.problems,
    subword_checks.problems,
    train_checks.problems,
    generate_checks.problems,
    select_checks.problems,
    filter_checks.problems,
    embed_checks.problems,
    evaluate_checks.problems,
)


def validate(config: core.Config) -> None:
    """Check a merged configuration by the schema and by every stage.

    Raises:
        InputError: see `core.config.validate`.
    """
    core.validate(config, CHECKS)
