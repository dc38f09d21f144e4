"""The untrained model: vocabularies from the training text, vectors from a file or random."""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import sentencepiece
import torch
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.vectors import vectors_of
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.statistics.frequency import most_frequent
from workflow_scripts.encoding.encoders import ENCODERS
from workflow_scripts.encoding.parts import Parts, empty_network
from workflow_scripts.encoding.tokens import Pieces, Tokeniser, Trigrams, Words

# Standard deviation of random vectors: our choice, the papers start from PARAGRAM-SL999.
_SPREAD = 0.01
# Sums depend on the number of threads: one number for every machine.
_TRAINER_THREADS = 1
# Pieces are learnt from about this many sentences: the trainer holds them all, 1.2 KB each.
PIECE_SENTENCES = 1_000_000

# The tokenisers whose vocabulary is the most frequent tokens of the text.
_COUNTED: dict[str, type[Words] | type[Trigrams]] = {"words": Words, "trigrams": Trigrams}

Text = Callable[[], Iterable[str]]


def token_kinds(model: dict[str, Any]) -> list[str]:
    """Return the kind of tokens of each encoder of a model's configuration."""
    return [ENCODERS[name].tokens or model["tokens"] for name in model["encoders"]]


def counted_vocabulary(tokens: Iterable[str], least: int, size: int) -> list[str]:
    """Return the most frequent tokens, at most `size`, each seen at least `least` times."""
    counts = Counter(tokens)
    frequent = {token: count for token, count in counts.items() if count >= least}
    return list(most_frequent(frequent))[:size]


def sampled(text: Text, most: int, seed: int) -> Iterator[str]:
    """Yield a seeded sample of about `most` sentences, or all sentences if there are fewer."""
    keep = most / max(1, sum(1 for _ in text()))
    for number, sentence in enumerate(text()):
        if keep >= 1.0 or fraction(seed, "embed", "pieces", number) < keep:
            yield sentence


def train_pieces(sentences: Iterable[str], size: int) -> Pieces:
    """Return a unigram model; it turns text into NFKC and lower case itself.

    Raises:
        InputError: the text is too small for `size` pieces.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type="unigram",
            vocab_size=size,
            normalization_rule_name="nmt_nfkc_cf",
            hard_vocab_limit=False,
            num_threads=_TRAINER_THREADS,
            minloglevel=2,
        )
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"model.vocabulary: SentencePiece can't learn {size} pieces of this training set "
            f"({error}); lower it, or train on more"
        ) from error
    return Pieces(model.getvalue())


def tokenisers(
    model: dict[str, Any], text: Text, seed: int, figures: dict[str, Any]
) -> tuple[dict[str, Tokeniser], dict[str, NDArray[np.float32]]]:
    """Return a model's tokenisers by kind, and the vectors of its file by word.

    Args:
        model: its configuration.
        text: gives all training sentences in each call.
        seed: for the sample that pieces are learnt from.
        figures: gets what is known of a file of vectors, see `vectors_of`.

    Raises:
        InputError: the text has no token, or the file of vectors is not what it should be.
    """
    by_kind: dict[str, Tokeniser] = {}
    vectors: dict[str, NDArray[np.float32]] = {}
    least, size = model["min_count"], model["vocabulary"]
    for kind in dict.fromkeys(token_kinds(model)):
        if kind == "pieces":
            by_kind[kind] = train_pieces(sampled(text, PIECE_SENTENCES, seed), size)
            continue
        tokeniser = _COUNTED[kind]
        vocabulary = counted_vocabulary(_split(tokeniser.split, text()), least, size)
        if not vocabulary:
            raise InputError("the training set has no token that is frequent enough to train on")
        if kind == "words" and model["vectors"] is not None:
            vectors, figures["vectors"] = vectors_of(
                vocabulary, model["vectors"], model["dimension"], size, "model.dimension"
            )
        by_kind[kind] = tokeniser(vocabulary)
    return by_kind, vectors


def _split(split: Callable[[str], Iterator[str]], sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield from split(sentence)


def table(
    vocabulary: list[str],
    dimension: int,
    vectors: dict[str, NDArray[np.float32]],
    random: np.random.Generator,
) -> NDArray[np.float32]:
    """Return a vector for each token, shape (vocabulary, dimension).

    A token in `vectors` gets the vector there; any other token gets a random one: N(0, 0.01²).
    """
    rows = random.standard_normal((len(vocabulary), dimension), dtype=np.float32) * _SPREAD
    for row, token in enumerate(vocabulary):
        if token in vectors:
            rows[row] = vectors[token]
    return rows


def initial_model(
    model: dict[str, Any],
    text: Text,
    seed: int,
    repetition: int,
    figures: dict[str, Any] | None = None,
) -> Parts:
    """Return an untrained model.

    Args:
        model: its configuration: `encoders`, `combine`, `dimension`, `hidden`, `tokens`,
            `vocabulary`, `min_count`, `vectors`.
        text: gives all training sentences in each call.
        seed: of the run.
        repetition: the embedding's own seed.
        figures: gets what is known of a file of vectors, see `vectors_of`.

    Raises:
        InputError: see `tokenisers`.
    """
    kinds = token_kinds(model)
    tokenised_by, vectors = tokenisers(model, text, seed, {} if figures is None else figures)
    config = {
        "encoders": model["encoders"],
        "tokens": kinds,
        "dimension": model["dimension"],
        "hidden": model["hidden"],
        "combine": model["combine"],
    }
    # The initial weights of the encoders proper are drawn by torch.
    random = generator(seed, "embed", "network", repetition)
    torch.manual_seed(int(random.integers(2**63)))
    network = empty_network(config, tokenised_by)
    for index, (weights, kind) in enumerate(zip(network.tables, kinds, strict=True)):
        rows = table(
            tokenised_by[kind].vocabulary,
            model["dimension"],
            vectors if kind == "words" else {},
            generator(seed, "embed", "vectors", repetition, index),
        )
        weights.data.copy_(torch.from_numpy(rows))
    return Parts(config, tokenised_by, network)
