"""Training of the translation models with Sockeye, and their measurement."""
