"""Ranks, rank correlations, resamples, and numbers as they are shown."""
