"""A small classifier of references against paraphrases, as the stage `filter` saves one."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import write_record


def save_classifier(folder: Path, metrics: dict[str, Any], references: list[str]) -> Any:
    """Save a classifier that has learnt one of the references; return it."""
    # Not at the top: torch takes its time.
    import torch

    from workflow_scripts.stages.filter.classifier import Classifier
    from workflow_scripts.stages.filter.classifier_files import RECORD
    from workflow_scripts.stages.filter.sample import reference_place

    torch.manual_seed(1)
    classifier = Classifier("average", 4, ["dog", "cat", "cold", "man"])
    classifier.learnt(1, min(reference_place(1, reference) for reference in references))
    files = classifier.save(folder, metrics)
    write_record(folder / RECORD, 0, 0, {}, files=files)
    return classifier
