"""A package for each stage, and the list of their declarations (catalogue.py)."""
