"""Features of pairs as a run's plan sees them: what each needs (docs/judge.md).

The Snakefile imports this module: only the standard library.
"""

from typing import Any

from workflow_scripts.plan.catalogues.training_sets import model_columns
from workflow_scripts.plan.schema import filled

REFERENCE_NLLS = ("reference_forward_nll", "reference_backward_nll")
# What the backward model says of both sentences, all at once.
COMPARED = ("backward_nll", "lost", "divergence")
KNOWN_WORDS, ENCODER, GRAMMAR = "known_words", "encoder", "grammar"
# What each feature needs besides the texts: fields of judge.pairs.Pairs and judge.features.Models.
NEEDS: dict[str, tuple[str, ...]] = {
    "forward_nll": ("forward_nll",),
    "backward_nll": ("backward_nll",),
    "forward_total": ("forward_total",),
    "forward_worst": ("forward_worst",),
    "forward_gain": ("forward_nll", "reference_forward_nll"),
    "backward_gain": ("backward_nll", "reference_backward_nll"),
    "divergence": COMPARED,
    "source_lost": COMPARED,
    "cosine": (ENCODER,),
    "grammar": (GRAMMAR,),
    "grammar_gain": (GRAMMAR,),
    "language_model": ("language_model",),
    "unknown_words": (KNOWN_WORDS,),
    "numbers": (),
    "names": (KNOWN_WORDS,),
    "negation": (),
    "length_ratio": (),
    "overlap_1": (),
    "overlap_2": (),
    "overlap_3": (),
    "edit_distance": (),
    "words": (),
    "tokens_kept": (ENCODER,),
    "tokens_kept_below": (ENCODER,),
    "worst_kept": (ENCODER,),
    "spread_added": (ENCODER,),
    "reference_vector": (ENCODER,),
    "forward_root": ("forward_nll",),
    "changed_pronouns": (),
    "invented_words": (),
    "dropped_words": (),
    "repeated_words": (),
    "doubled_words": (),
    "inner_capitals": (),
    "respelt_words": (),
    "untranslated_words": (),
    "lost_articles": (),
    "exchanged_words": (),
    "changed_marks": (),
}
# What a column of pairs holds already, under this name or another one, or what has a kind of column
# of its own.
ELSEWHERE = {"forward_nll", "backward_nll", "overlap_1", "overlap_2", "overlap_3", "words"}
ELSEWHERE |= {"language_model"}
# What needs a model, or the sources, that columns don't have.
WITHOUT_COLUMN = {"forward_total", "forward_worst", "reference_vector", "untranslated_words"}
WITHOUT_COLUMN |= {"divergence", "source_lost"}
# All others can be a column, by `columns.<name>.feature.name`.
COLUMNS = sorted(NEEDS.keys() - ELSEWHERE - WITHOUT_COLUMN)
ENGLISH = ("en", "eng")
# Those that are for some languages of references alone.
LANGUAGES = dict.fromkeys(
    (
        *("negation", "changed_pronouns", "invented_words", "dropped_words", "inner_capitals"),
        *("respelt_words", "untranslated_words", "lost_articles", "exchanged_words"),
    ),
    ENGLISH,
)


def column_features(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the run's columns that are features of pairs: by column its block."""
    columns = {name: config["columns"][name] for name in model_columns(config)}
    return {name: block["feature"] for name, block in columns.items() if "feature" in block}


def needs(config: dict[str, Any], *wanted: str) -> bool:
    """Tell whether a column of the run needs one of these."""
    needed = {need for block in column_features(config).values() for need in NEEDS[block["name"]]}
    return not needed.isdisjoint(wanted)


def run_grammar(block: dict[str, Any]) -> bool:
    """Tell whether a column that is a feature asks a grammar model that the run trains."""
    return GRAMMAR in NEEDS[block["name"]] and filled(block, "feature")["grammar"] == "run"
