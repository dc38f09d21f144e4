"""The released corpus of each system, with its datasheet and checksums, and the run's report."""

from pathlib import Path

TEMPLATES = Path(__file__).with_name("templates")
