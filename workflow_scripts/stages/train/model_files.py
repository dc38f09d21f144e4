"""The files that a Sockeye 3 model consists of, in the folder of a user and in that of a run.

The Snakefile imports this module: only the standard library.
"""

FILES = ("config", "params.best", "vocab.src.0.json", "vocab.trg.0.json", "version")
