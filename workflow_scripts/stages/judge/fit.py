"""Fits a judge to labels (good, acceptable, bad), to ratings, or to both.

Writes judge.json, which `paraloom judge score --judge` takes. Prints how good each set of features
is for references that it was not fitted to, and how far the probabilities can be relied on.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.version import version
from workflow_scripts.encoding.sentence_vectors import load_encoder
from workflow_scripts.plan.catalogues.pair_features import ENCODER, ENGLISH, NEEDS
from workflow_scripts.stages.judge.features import FEATURES, Models, compute
from workflow_scripts.stages.judge.features.registry import feature
from workflow_scripts.stages.judge.fitting import Examples, ablation, fit
from workflow_scripts.stages.judge.grammar.grammar_model import Grammar
from workflow_scripts.stages.judge.judge import Judge
from workflow_scripts.stages.judge.opened import GRAMMAR, encoder_of
from workflow_scripts.stages.judge.rated_pairs import read_labels, read_ratings

# What proved useful by cross-validation (docs/judge.md).
FEATURES_BY_DEFAULT = (
    "forward_nll",
    "forward_root",
    "backward_nll",
    "cosine",
    "tokens_kept",
    "tokens_kept_below",
    "worst_kept",
    "spread_added",
    "reference_vector",
    "grammar",
    "numbers",
    "changed_pronouns",
    "invented_words",
    "dropped_words",
    "repeated_words",
    "doubled_words",
    "inner_capitals",
    "lost_articles",
    "respelt_words",
    "untranslated_words",
    "exchanged_words",
    "changed_marks",
    "divergence",
    "source_lost",
)
GOOD_RATING = 80.0


def usable(features: Sequence[str], files: Sequence[Examples], models: Models) -> list[str]:
    """Return those features that files, models and language allow.

    Raises:
        InputError: a name is no feature.
    """
    columns = {column for file in files for column in file.pairs.columns()}
    return [
        name
        for name in features
        if set(feature(name).columns) <= columns
        and all(getattr(models, model) is not None for model in FEATURES[name].models)
        and models.language in (FEATURES[name].languages or (models.language,))
    ]


def fit_judge(
    files: Sequence[Examples],
    features: Sequence[str],
    models: Models,
    about: dict[str, Any],
    seed: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> Judge:
    """Return a judge of some features; see `fitting.fit`.

    Raises:
        InputError: a feature lacks what it needs, or the files are too small.
    """
    able = usable(features, files, models)
    if lacking := [name for name in features if name not in able]:
        raise InputError(
            f"the features {', '.join(lacking)} lack what they need ({_needs(lacking)}); give it, "
            "or leave them out"
        )
    about = {
        **about,
        "fitted_to": [dict(each) for file in files for each in file.sources],
        "seed": seed,
    }
    return fit(with_features(files, features, models), features, models.language, about, seed, tell)


def with_features(
    files: Sequence[Examples], features: Sequence[str], models: Models
) -> list[Examples]:
    """Return the files with the numbers of their pairs."""
    names = dict.fromkeys([*features, "words"])
    return [replace(file, features=compute(file.pairs, names, models)) for file in files]


def _needs(names: Sequence[str]) -> str:
    needs = dict.fromkeys(need for name in names for need in NEEDS[name])
    languages = [name for name in names if FEATURES[name].languages]
    return ", ".join([*needs, *(["English references"] if languages else [])])


def main(argv: list[str] | None = None) -> None:
    """Fit a judge to files of labels or ratings."""
    parser = CommandParser(description=__doc__)
    parser.add_argument(
        "--labels",
        type=Path,
        nargs="+",
        help="tables with a head: id, source, reference, paraphrase, forward_nll, backward_nll, "
        "label (good, acceptable, bad, or G, A, B; copies are left out)",
    )
    parser.add_argument(
        "--split", nargs="+", help="of the labels, only those whose column split is one of these"
    )
    parser.add_argument(
        "--ratings",
        type=Path,
        help="of people, in the format of ParaBank's candidates.tsv (docs/annotate.md)",
    )
    parser.add_argument("--reference-texts", type=Path, help="of the ratings: ref_id, ref_sent")
    parser.add_argument(
        "--good", type=float, default=GOOD_RATING, help="least mean rating of a good pair"
    )
    parser.add_argument("--features", nargs="+", help="names (docs/judge.md)")
    parser.add_argument("--language", default="en", help="of the references, ISO 639")
    parser.add_argument("--encoder", type=Path, help="folder; without it the one that is installed")
    parser.add_argument("--grammar", type=Path, help="folder; without it the English one")
    parser.add_argument("--seed", type=int, default=1, help="of the folds")
    parser.add_argument(
        "--ablation", action="store_true", help="print the figures without each feature, too"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder of judge.json")
    arguments = parser.parse_args(argv)
    if (arguments.ratings is None) != (arguments.reference_texts is None):
        parser.error("--ratings and --reference-texts go together")
    if arguments.split and not arguments.labels:
        parser.error("--split needs --labels")
    if not 0 <= arguments.seed < 1 << 32:
        parser.error(f"--seed {arguments.seed} is not from 0 to 2^32 - 1")
    if not arguments.labels and not arguments.ratings:
        parser.error("name --labels or --ratings")
    files = _examples(arguments)
    wanted = arguments.features or FEATURES_BY_DEFAULT
    needs = {need for name in wanted for need in NEEDS.get(name, ())}
    english = arguments.language in ENGLISH
    about: dict[str, Any] = {"paraloom": version()}
    encoder = grammar = None
    if ENCODER in needs and (english or arguments.encoder):
        about["encoder"], folder = encoder_of(arguments.encoder)
        encoder = load_encoder(folder)
    if GRAMMAR in needs and (english or arguments.grammar):
        grammar = Grammar.load(arguments.grammar or "english")
        if arguments.grammar:
            about[GRAMMAR] = {"name": arguments.grammar.name}
    models = Models(encoder, grammar, language=arguments.language)
    features = arguments.features or usable(FEATURES_BY_DEFAULT, files, models)
    judge = fit_judge(files, features, models, about, arguments.seed, print)
    print_reliability(judge)
    if arguments.ablation:
        for line in ablation(with_features(files, features, models), features, arguments.seed):
            print(line)
    print(f"written: {judge.save(arguments.output)}")


def _examples(arguments: Namespace) -> list[Examples]:
    """Return the labels, then the ratings, as far as they are named."""
    files = []
    if arguments.labels:
        files.append(read_labels(*arguments.labels, splits=arguments.split or ()))
    if arguments.ratings:
        texts, good = arguments.reference_texts, arguments.good
        files.append(read_ratings(arguments.ratings, texts, good))
    return files


def print_reliability(judge: Judge) -> None:
    """Print how often pairs of like probability are good, by length of the reference."""
    print("words of the reference, probability, pairs, mean probability, share of good ones")
    for band in judge.about["reliability"]:
        for row in band["bins"]:
            print(
                f"{band['words']}\t{row['from']:.1f}-{row['to']:.1f}\t{row['pairs']}\t"
                f"{row['probability']:.3f}\t{row['good']:.3f}"
            )


if __name__ == "__main__":
    run(main)
