"""Paraloom: from bitext to sentential paraphrases to paraphrastic sentence embeddings."""

from workflow_scripts.forwards import install

install()
