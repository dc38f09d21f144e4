"""Tools with which stages show their results: the finished run, templates, plots, tables."""
