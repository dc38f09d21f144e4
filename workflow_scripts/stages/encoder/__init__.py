"""Contextual encoders: masked language models, and paraphrase identification (pBERT)."""
