"""Paraloom: from bitext to sentential paraphrases to paraphrastic sentence embeddings."""
