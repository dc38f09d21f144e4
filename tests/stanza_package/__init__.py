"""A tiny Stanza package, so that tests load and run real models. README.md says how it was made."""

from pathlib import Path

FOLDER = Path(__file__).parent
LANGUAGE, PACKAGE = "en", "default"
