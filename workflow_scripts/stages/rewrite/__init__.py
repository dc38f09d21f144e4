"""Rewriters: models that paraphrase within the language, trained on the pipeline's pairs."""
