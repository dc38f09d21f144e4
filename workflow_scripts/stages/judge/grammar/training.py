"""Training of the grammar model: sentences against the same sentences damaged."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.training.epochs import EpochLoop
from workflow_scripts.stages.judge.grammar.convolutions import PADDING, UNKNOWN, Batch, Network
from workflow_scripts.stages.judge.grammar.damage import Damager
from workflow_scripts.stages.judge.grammar.grammar_model import Encoding, Grammar
from workflow_scripts.stages.judge.grammar.known_tokens import is_word, normal, tokens
from workflow_scripts.stages.judge.grammar.sequences import Seen

Tokens = list[str]

# Fewer sentences teach nothing but themselves.
MINIMUM = 2000
# Sentences that are trained on: words at least, tokens at most.
_FEWEST_WORDS, _MOST_TOKENS = 2, 100
# Sentences of about the same length stand in a batch: this many batches are sorted together.
_SORTED_BATCHES = 20
# Share of the distinct words of a batch that are shown by their letters alone.
_UNKNOWN_SHARE = 0.1
_WARM_UP = 0.05

DEFAULTS: dict[str, Any] = {
    "seed": 1,
    "sentences": 300_000,
    "validation": 2000,
    "counted": 0.8,
    "vocabulary": 12_000,
    "buckets": 16_384,
    "embedding": 48,
    "hidden": 128,
    "dilations": [1, 2, 4],
    "joined": 0.25,
    "epochs": 2,
    "batch": 256,
    "learning_rate": 0.003,
}
_NETWORK = ("buckets", "embedding", "hidden", "dilations")
# A word that is seen this often is known by more than its letters.
_KNOWN_COUNT = 3


class Split(NamedTuple):
    """Sentences whose sequences are counted, to train and to validate on; none is in two."""

    counted: list[Tokens]
    training: list[Tokens]
    validation: list[Tokens]


def sampled(sentences: Iterable[str], config: Mapping[str, Any]) -> list[str]:
    """Return a seeded sample of `config["sentences"]` distinct sentences, in random order.

    It depends neither on the order of the sentences nor on how often each comes.
    """
    places: dict[str, float] = {}
    heap: list[tuple[float, str]] = []
    for sentence in sentences:
        place = fraction(config["seed"], "grammar", sentence)
        if len(heap) == config["sentences"]:
            if -place <= heap[0][0] or sentence in places:
                continue
            del places[heapq.heappop(heap)[1]]
        elif sentence in places:
            continue
        places[sentence] = place
        heapq.heappush(heap, (-place, sentence))
    return sorted(places, key=lambda sentence: (places[sentence], sentence))


def split(sentences: Iterable[str], config: Mapping[str, Any]) -> Split:
    """Cut a sample of sentences into tokens and divide it.

    Raises:
        InputError: there are too few sentences.
    """
    suitable = [
        sentence
        for sentence in map(tokens, sampled(sentences, config))
        if len(sentence) <= _MOST_TOKENS and sum(map(is_word, sentence)) >= _FEWEST_WORDS
    ]
    if len(suitable) < MINIMUM:
        raise InputError(
            f"grammar: {len(suitable)} different sentences of {_FEWEST_WORDS} words and more; "
            f"a model needs {MINIMUM} at least: give more references"
        )
    validation = min(config["validation"], len(suitable) // 10)
    counted = validation + int(config["counted"] * (len(suitable) - validation))
    return Split(suitable[validation:counted], suitable[counted:], suitable[:validation])


def vocabulary(sentences: Sequence[Tokens], size: int) -> list[str]:
    """Return the most frequent words in normal form; of equally frequent ones the first."""
    counts = Counter(normal(token) for sentence in sentences for token in sentence)
    known = [word for word, count in counts.items() if count >= _KNOWN_COUNT]
    return sorted(known, key=lambda word: (-counts[word], word))[:size]


class Examples(NamedTuple):
    """Sentences of a batch, sound ones and damaged ones.

    Attributes:
        sentences: their tokens.
        sound: whether each is sound.
        wrong: whether something is wrong at each token and at the end.
    """

    sentences: list[Tokens]
    sound: list[bool]
    wrong: list[list[bool]]


def _drawn(
    sentences: Sequence[Tokens], config: Mapping[str, Any], epoch: int
) -> tuple[np.random.Generator, Iterator[list[Tokens]]]:
    """Return what draws in an epoch, and its sentences in portions that are sorted by length.

    Some sentences have further ones behind them: a corpus of short sentences teaches long ones,
    too. Those that are too long then are left out.
    """
    random = generator(config["seed"], "grammar", "epoch", epoch)
    order = random.permutation(len(sentences))
    joined = random.random(len(sentences)) < config["joined"]
    more = random.integers(len(sentences), size=(len(sentences), 3))
    count = random.integers(1, 4, size=len(sentences))
    whole: list[Tokens] = [
        [
            *sentences[number],
            *(t for other in more[place, : count[place]] for t in sentences[other]),
        ]
        if joined[place]
        else sentences[number]
        for place, number in enumerate(order)
    ]
    portion = _sentences_of_batch(config) * _SORTED_BATCHES
    return random, (
        sorted((s for s in whole[start : start + portion] if len(s) <= _MOST_TOKENS), key=len)
        for start in range(0, len(whole), portion)
    )


def _sentences_of_batch(config: Mapping[str, Any]) -> int:
    """Return how many sound sentences a batch has: each stands beside a damaged one."""
    return max(config["batch"] // 2, 1)


def number_of_batches(sentences: Sequence[Tokens], config: Mapping[str, Any], epoch: int) -> int:
    """Return how many batches `examples` yields in an epoch."""
    step = _sentences_of_batch(config)
    return sum(-(-len(portion) // step) for portion in _drawn(sentences, config, epoch)[1])


def examples(
    sentences: Sequence[Tokens], damager: Damager, config: Mapping[str, Any], epoch: int
) -> Iterator[Examples]:
    """Yield the batches of an epoch: each sentence as it is and damaged, the two side by side."""
    step = _sentences_of_batch(config)
    random, portions = _drawn(sentences, config, epoch)
    for portion in portions:
        for first in random.permutation(np.arange(0, len(portion), step)):
            yield _paired(portion[first : first + step], damager, epoch)


def _paired(sentences: Sequence[Tokens], damager: Damager, epoch: int) -> Examples:
    result = Examples([], [], [])
    for original in sentences:
        sentence = damager.renamed(original, epoch)
        result.sentences.append(sentence)
        result.sound.append(True)
        result.wrong.append([False] * (len(sentence) + 1))
        if (damaged := damager.damage(sentence, epoch)) is not None:
            result.sentences.append(damaged.tokens)
            result.sound.append(False)
            result.wrong.append(damaged.wrong)
    return result


def _loss(network: Network, batch: Batch, marked: Examples) -> Tensor:
    """Return the cross-entropy of sentences plus that of tokens."""
    sound, wrong = network(batch)
    wanted = torch.zeros_like(wrong)
    for row, marks in enumerate(marked.wrong):
        wanted[row, 1 : 1 + len(marks)] = torch.tensor(marks, dtype=torch.float32)
    present = batch.words[batch.types] != PADDING
    return binary_cross_entropy_with_logits(
        sound, torch.tensor(marked.sound, dtype=torch.float32)
    ) + binary_cross_entropy_with_logits(wrong[present], wanted[present])


def _spelt(batch: Batch, random: np.random.Generator) -> Batch:
    """Return the batch with some words as if they were unknown."""
    chosen = torch.from_numpy(random.random(len(batch.words)) < _UNKNOWN_SHARE)
    chosen[:2] = False  # padding and edges
    return batch._replace(words=batch.words.masked_fill(chosen, UNKNOWN))


def train(parts: Split, damager: Damager, config: Mapping[str, Any]) -> Grammar:
    """Return a trained model. The same sentences, settings and threads give the same weights."""
    torch.manual_seed(int(generator(config["seed"], "grammar").integers(2**62)))
    encoding = Encoding(
        vocabulary(parts.training + parts.counted, config["vocabulary"]),
        config["buckets"],
        Seen.count([normal(token) for token in sentence] for sentence in parts.counted),
    )
    sizes = {key: config[key] for key in _NETWORK}
    network = Network(len(encoding.vocabulary), **sizes)
    epochs = range(1, config["epochs"] + 1)
    # What the rate follows from: at least as many updates as there are.
    steps = len(epochs) * (len(parts.training) // _sentences_of_batch(config) + 1)
    random = generator(config["seed"], "grammar", "unknown")

    def rate(update: int) -> float:
        done = update / steps
        share = min(done / _WARM_UP, max(1 - done, 0.0) / (1 - _WARM_UP)) + 1e-3
        return config["learning_rate"] * share

    EpochLoop(
        network,
        torch.optim.Adam(network.parameters()),
        lambda _: chain.from_iterable(
            examples(parts.training, damager, config, epoch) for epoch in epochs
        ),
        lambda batch: _loss(network, _spelt(encoding.batch(batch.sentences), random), batch),
        # To the loop all are one: what is too long is left out, so epochs differ in their batches.
        epochs=1,
        per_epoch=sum(number_of_batches(parts.training, config, epoch) for epoch in epochs),
        points=len(epochs),
        desc="grammar",
        rate=rate,
    ).run()
    return Grammar(network, encoding, {"network": sizes})


def roc_area(scores: NDArray[np.float64], good: NDArray[np.bool_]) -> float:
    """Return the share of pairs of a good and a bad one in which the good one scores higher.

    A tie counts half. It is the area under the ROC curve.
    """
    ranks = rankdata(scores)
    goods = int(good.sum())
    bads = len(good) - goods
    return float((ranks[good].sum() - goods * (goods + 1) / 2) / (goods * bads))


def validate(
    model: Grammar, sentences: Sequence[Tokens], damager: Damager
) -> dict[str, float | dict[str, float]]:
    """Return how well a model tells held-out sentences from damaged ones, by kind of damage.

    `area` is that under the ROC curve, `accuracy` counts log-odds above 0 as sound.
    """
    sound = model.of_tokens(sentences)
    damaged = [result for s in sentences if (result := damager.damage(s, "validation")) is not None]
    unsound = model.of_tokens([sentence.tokens for sentence in damaged])
    kinds: dict[str, float] = {}
    for kind in damager.kinds:
        results = (damager.damage(s, "validation", kind=kind) for s in sentences)
        of_kind = [result.tokens for result in results if result]
        if of_kind:
            kinds[kind] = _area(sound, model.of_tokens(of_kind))
    return {
        "area": _area(sound, unsound),
        "accuracy": round(float((np.mean(sound > 0) + np.mean(unsound <= 0)) / 2), DECIMALS),
        "area_by_kind": kinds,
    }


def _area(sound: NDArray[np.float64], unsound: NDArray[np.float64]) -> float:
    good = np.arange(len(sound) + len(unsound)) < len(sound)
    return round(roc_area(np.concatenate([sound, unsound]), good), DECIMALS)
