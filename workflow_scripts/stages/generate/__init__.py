"""Generate: which references to paraphrase, and their candidates from the forward model."""
