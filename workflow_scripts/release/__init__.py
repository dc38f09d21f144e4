"""The released corpus of each system, with its datasheet and checksums, and the run's report."""
