"""People rate paraphrases on a page of ours (docs/annotate.md)."""
