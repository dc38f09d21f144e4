"""Numbers that tell good paraphrases from bad ones (docs/judge.md)."""

from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.features.registry import FEATURES, compute

__all__ = ["FEATURES", "Feature", "Models", "compute"]
