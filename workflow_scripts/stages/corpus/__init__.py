"""Stage corpus: bitext files or the testbed become shards of pairs (docs/corpus.md)."""
