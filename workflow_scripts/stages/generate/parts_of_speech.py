"""Coarse parts of speech: those of ParaBank's constraints (3.2), whatever the tag set.

The tags of the Penn Treebank, which PPDB and many taggers have, and the universal ones become one
set, that of Universal Dependencies.
"""

VERB = "VERB"
# Parts of speech of which words have several forms, by the names of lemminflect's dictionary.
INFLECTED = frozenset({VERB, "NOUN", "ADJ", "ADV"})
_COARSE = {
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "VP", "AUX"), VERB),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "NP", "PROPN"), "NOUN"),
    **dict.fromkeys(("JJ", "JJR", "JJS", "ADJP"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB", "ADVP"), "ADV"),
    **dict.fromkeys(("PRP", "PRP$", "WP", "WP$"), "PRON"),
    **dict.fromkeys(("DT", "PDT", "WDT"), "DET"),
    **dict.fromkeys(("IN", "TO", "RP", "PP", "SCONJ"), "ADP"),
    **{"CD": "NUM", "CC": "CCONJ", "UH": "INTJ"},
}


def coarse(tag: str) -> str:
    """Return the coarse part of speech of a tag: any form of a verb is a VERB, for example.

    Args:
        tag: of the Penn Treebank or of Universal Dependencies, or in brackets as PPDB has it. One
            that neither has is a part of speech of its own.
    """
    bare = tag.strip("[]")
    return _COARSE.get(bare, bare)
