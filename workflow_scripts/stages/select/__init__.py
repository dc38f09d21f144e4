"""Select: from scored candidates to the paraphrases of each reference (ParaBank 2, 2.3)."""
