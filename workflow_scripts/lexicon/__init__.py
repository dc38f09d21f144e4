"""The paraphrase lexicon of training sets, and what it is worth."""
