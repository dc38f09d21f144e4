"""Stage clean: normalised pairs that are worth training on, each once (ParaBank 2, 3.1)."""
