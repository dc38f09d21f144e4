"""The kinds of damage that a rewriter's noise has (docs/canonicaliser.md).

The Snakefile imports this module: only the standard library.
"""

# Errors of typing: one letter of a word.
TYPING = ("neighbour", "swap", "omit", "repeat")
# Kinds whose rules know English alone.
ENGLISH = ("drop", "verb", "determiner")
KINDS = (*TYPING, "double", "case", *ENGLISH)
