"""Folders of models in installed packages, which are found by their metadata and never imported."""

import importlib.util
import sys
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError

# Packages of which this process has read a model, with their versions.
_read: dict[str, str] = {}


def packages_read() -> dict[str, str]:
    """Return the versions of the packages of which this process has read a model."""
    return dict(_read)


def _distribution(name: str, package: str, advice: str) -> metadata.Distribution:
    """Return the distribution of an importable package."""
    try:
        return metadata.distribution(package)
    except metadata.PackageNotFoundError:
        # Its distribution may have another name, as PyYAML has yaml.
        for distribution in metadata.packages_distributions().get(package, []):
            return metadata.distribution(distribution)
    raise InputError(
        f"{name}: the package {package} is not installed for {sys.executable}; {advice}"
    )


def folder_in_package(
    name: str, model: dict[str, Any], is_model: Callable[[Iterable[str]], bool], advice: str
) -> Path:
    """Return the folder of a model inside an installed package.

    Args:
        name: what messages call the model.
        model: its `package`, the `version` of that, and its `path` inside.
        is_model: tells whether files of these names in a folder are a model.
        advice: what to do where the package is not installed.

    Raises:
        InputError: the package is not there, has another version, or another layout.
    """
    package, wanted = model["package"], model["version"]
    installed = _distribution(name, package, advice).version
    if installed != wanted:
        raise InputError(
            f"{name}: version {installed} of the package {package} is installed for "
            f"{sys.executable}, but the configuration says {wanted}; install that one, or change "
            "`version`, which makes another model"
        )
    spec = importlib.util.find_spec(package)  # a name without dots: nothing is imported
    places = [Path(place) for place in spec.submodule_search_locations or []] if spec else []
    for place in places:
        folder = (place / model["path"]).resolve()
        if folder.is_dir() and folder.is_relative_to(place.resolve()):
            _read[package] = installed
            return folder
    models = [model_folder for place in places for model_folder in _models(place, is_model)]
    raise InputError(
        f"{name}: the package {package} {installed} has no folder {model['path']}; models are in "
        f"{', '.join(models) or 'none of its folders'}"
    )


def _models(place: Path, is_model: Callable[[Iterable[str]], bool]) -> list[str]:
    """Return the folders below `place` that hold a model, relative to it."""
    folders = sorted({path.parent for path in place.rglob("*") if path.is_file()})
    return [
        folder.relative_to(place).as_posix()
        for folder in folders
        if is_model(path.name for path in folder.iterdir() if path.is_file())
    ]
