"""Constituency trees of references and paraphrases, and distances between them (PB2 3.6)."""
