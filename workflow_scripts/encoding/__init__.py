"""Finished embeddings and encoders of sentences: opened, applied and written."""
