"""Paraloom: paraphrases of any sentence, and corpora of them."""
