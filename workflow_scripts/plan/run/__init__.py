"""A run on disk: its links, its events, its locks, and the versions of its tools."""
