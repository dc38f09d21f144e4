"""The stage `lexicon`: paraphrases of words and short phrases (docs/lexicon.md)."""
