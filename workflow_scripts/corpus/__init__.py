"""Stage corpus: bitext files or the testbed become shards of pairs (DESIGN 3 and 9)."""
