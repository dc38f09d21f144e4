"""What stages need to show their results: the finished run, templates, plots, tables."""
