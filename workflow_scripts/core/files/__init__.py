"""Files that appear whole, their records, Parquet tables, archives, lines of text."""
