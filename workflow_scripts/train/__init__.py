"""Training of the translation models with Sockeye 3, and their measurement."""
