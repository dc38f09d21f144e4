"""The pairs that paraphrase identification is learnt from (ParaBank 2, section 3.8).

Of each sentence s of a training set two pairs: with a paraphrase of it, and with the sentence most
like it under an embedding of the run that is none of its paraphrases. Sentences that differ in
nothing but case, punctuation and blanks are one sentence here. What pairs join, directly or through
others, is one group, and nothing in a group is a negative of anything else in it: neither the
paraphrases of one reference, nor two references that share a paraphrase.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import TableWriter, count_rows, read_rows
from workflow_scripts.core.files.rows import EncoderPairRow, TrainingPairRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.encoding.embedding import load
from workflow_scripts.encoding.interface import RECORD as EMBEDDING_RECORD
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.encoder.neighbours import (
    NONE,
    Exact,
    Inverted,
    Vectors,
    ranked,
    search,
)
from workflow_scripts.stages.encoder.tasks.reported import tested_on

RECORD, TRAIN, DEV = "pairs", "train.parquet", "dev.parquet"
# The kinds of pairs; the first is labelled 1.
PARAPHRASE, NEIGHBOUR, RANDOM = "paraphrase", "neighbour", "random"
# Why a row of the training set, or a sentence, is left out.
IDENTICAL, IN_EVALUATION = "identical", "in_evaluation"
_SIDES = ("reference", "paraphrase")
# Sentences that are encoded, or looked up, at once.
_CHUNK = 4096
# Neighbours that are looked at first, and at most: each time four times as many.
_FIRST, _MOST = 16, 1024
_VECTORS = "vectors.npy"


class Graph(NamedTuple):
    """The sentences of a training set, and which are paraphrases of which.

    Attributes:
        texts: of the sentences, each the first of its writings.
        edges: the sentences of each pair, reference first, shape (pairs, 2).
        groups: of each sentence, shape (sentences,).
    """

    texts: list[str]
    edges: NDArray[np.int64]
    groups: NDArray[np.int64]


def graph_of(rows: Iterable[tuple[str, str]], barred: set[int], rejected: Counter[str]) -> Graph:
    """Return the sentences of pairs (reference, paraphrase).

    A pair that is tested on is left out, but joins groups: two paraphrases of a reference that is
    left out are still no negatives of one another.

    Args:
        rows: the pairs.
        barred: keys of the sentences that the run tests on.
        rejected: counts the pairs that are left out, by reason.
    """
    numbers: dict[int, int] = {}  # of all sentences, also of those that are left out
    places: dict[int, int] = {}
    texts: list[str] = []
    links: list[tuple[int, int]] = []
    edges: list[tuple[int, int]] = []
    for pair in rows:
        one, other = (key(text) for text in pair)
        if one == other:
            rejected[IDENTICAL] += 1
            continue
        first, second = (numbers.setdefault(text, len(numbers)) for text in (one, other))
        links.append((first, second))
        if not barred.isdisjoint((one, other)):
            rejected[IN_EVALUATION] += 1
            continue
        for number, text in zip((one, other), pair, strict=True):
            if places.setdefault(number, len(texts)) == len(texts):
                texts.append(text)
        edges.append((places[one], places[other]))
    groups = _groups(np.array(links, np.int64).reshape(-1, 2), len(numbers))
    # Dense numbers of the groups of what is left.
    of_kept = groups[[numbers[number] for number in places]]
    _, of_kept = np.unique(of_kept, return_inverse=True)
    return Graph(texts, np.array(edges, np.int64).reshape(-1, 2), of_kept.astype(np.int64))


def _groups(links: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the connected component of each of `size` nodes."""
    if not size:
        return np.empty(0, np.int64)
    joined = coo_array((np.ones(len(links), np.int8), (links[:, 0], links[:, 1])), (size, size))
    return connected_components(joined, directed=False)[1].astype(np.int64)


def held_out(graph: Graph, share: float, seed: int) -> NDArray[np.bool_]:
    """Return of each sentence whether it is held out, whole groups by a draw of the seed.

    A group that would make them more than `share` of the sentences is passed over.
    """
    first = np.full(graph.groups.max() + 1, len(graph.texts))
    np.minimum.at(first, graph.groups, np.arange(len(graph.texts)))
    sizes = np.bincount(graph.groups)
    draws = [fraction(seed, "encoder", "dev", key(graph.texts[place])) for place in first]
    room = share * len(graph.texts)
    chosen = np.zeros(len(sizes), bool)
    for group in np.argsort(draws, kind="stable"):
        if sizes[group] <= room:
            chosen[group] = True
            room -= sizes[group]
    return chosen[graph.groups]


def paraphrases(graph: Graph, seed: int) -> NDArray[np.int64]:
    """Return of each sentence one of its paraphrases, drawn by the seed, shape (sentences,)."""
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    both = np.unique(both, axis=0)  # pairs that stand twice, and sorts by the first
    starts = np.searchsorted(both[:, 0], np.arange(len(graph.texts) + 1))
    drawn = [
        int(fraction(seed, "encoder", "paraphrase", key(text)) * (end - start)) + start
        for text, start, end in zip(graph.texts, starts[:-1], starts[1:], strict=True)
    ]
    return both[drawn, 1]


def encoded(
    texts: list[str], encode: Callable[[list[str]], NDArray[Any]], path: Path
) -> tuple[Vectors, NDArray[np.bool_]]:
    """Write the vectors of sentences, of length 1, into a file, and return them mapped.

    Returns:
        The vectors, shape (sentences, size); and which sentences have one.
    """
    size = len(encode(texts[:1])[0])
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, (len(texts), size))
    known = np.empty(len(texts), bool)
    parts = [range(len(texts))[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK)]
    for numbers in progress(parts, len(texts), "encoder: vectors", len):
        part = slice(numbers.start, numbers.stop)
        values = encode(texts[part])
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        known[part] = lengths[:, 0] > 0
        vectors[part] = values / np.where(lengths > 0, lengths, 1)
    vectors.flush()
    return np.lib.format.open_memmap(path, "r"), known


class Chosen(NamedTuple):
    """The negatives of some sentences, in the same order.

    Attributes:
        sentences: NONE where there is none.
        cosines: of the two.
    """

    sentences: NDArray[np.int64]
    cosines: Vectors


class Miner:
    """Finds negatives: neighbours that are allowed, of a wanted rank."""

    def __init__(
        self,
        graph: Graph,
        vectors: Vectors,
        searched: Exact | Inverted,
        allowed: NDArray[np.bool_],
        settings: dict[str, Any],
        seed: int,
    ):
        """Prepare to find some.

        Args:
            graph: the sentences.
            vectors: theirs.
            searched: finds what is near them.
            allowed: which of them may be negatives.
            settings: `ranks`, the first and the last that may be drawn; `similarity`, the least
                and the greatest cosine, each or None; `margin`, by how much less alike than the
                paraphrase a negative must be, or None.
            seed: of the draws.
        """
        self._graph, self._vectors, self._settings = graph, vectors, settings
        self._search, self._allowed, self._seed = searched, allowed, seed

    def negatives(self, sentences: NDArray[np.int64], positives: NDArray[np.int64]) -> Chosen:
        """Return a negative of each sentence, given a paraphrase of it."""
        low, high = self._settings["ranks"]
        draws = (
            fraction(self._seed, "encoder", "rank", key(self._graph.texts[sentence]))
            for sentence in sentences
        )
        ranks = np.array([low + int(draw * (high - low + 1)) for draw in draws], np.int64)
        chosen = Chosen(
            np.full(len(sentences), NONE, np.int64), np.zeros(len(sentences), np.float32)
        )
        open_, count = np.arange(len(sentences)), _FIRST + high
        most = 1 + max(_MOST, high)  # the sentence itself is among them
        while len(open_):
            left = []
            for start in range(0, len(open_), _CHUNK):
                rows = open_[start : start + _CHUNK]
                got, cosines = self._of_rank(sentences[rows], positives[rows], ranks[rows], count)
                chosen.sentences[rows], chosen.cosines[rows] = got, cosines
                left.append(rows[got == NONE])
            open_ = np.concatenate(left)
            if count >= min(most, len(self._graph.texts)):
                break
            count = min(4 * count, most)
        return chosen

    def _of_rank(
        self,
        sentences: NDArray[np.int64],
        positives: NDArray[np.int64],
        ranks: NDArray[np.int64],
        count: int,
    ) -> Chosen:
        """Return the negative of the wanted rank among `count` neighbours."""
        near, cosines = ranked(self._search, self._vectors, sentences, count)
        low, high = self._settings["similarity"]
        good = (near != NONE) & self._allowed[near]
        good &= self._graph.groups[near] != self._graph.groups[sentences, None]
        if low is not None:
            good &= cosines >= low
        if high is not None:
            good &= cosines <= high
        if self._settings["margin"] is not None:
            alike = np.einsum("qs,qs->q", self._vectors[sentences], self._vectors[positives])
            good &= cosines <= (alike - self._settings["margin"])[:, None]
        there = (np.cumsum(good, axis=1) == ranks[:, None]) & good
        place, rows = there.argmax(1), np.arange(len(sentences))
        has = there[rows, place]
        return Chosen(
            np.where(has, near[rows, place], NONE), np.where(has, cosines[rows, place], 0)
        )


def unrelated(graph: Graph, sentences: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return for each sentence one of another group at random; NONE if there is one group alone."""
    if len(np.unique(graph.groups)) < 2:
        return np.full(len(sentences), NONE, np.int64)
    drawn = []
    for sentence in sentences:
        random = generator(seed, "encoder", "stranger", key(graph.texts[sentence]))
        other = sentence
        while graph.groups[other] == graph.groups[sentence]:
            other = int(random.integers(len(graph.texts)))
        drawn.append(other)
    return np.array(drawn, np.int64)


class Mined(NamedTuple):
    """Sentences with their partners, one of each kind.

    Attributes:
        sentences: those that have a negative.
        partners: by kind, in the same order; NONE where there is none.
    """

    sentences: NDArray[np.int64]
    partners: dict[str, NDArray[np.int64]]


def write(path: Path, graph: Graph, vectors: Vectors, mined: Mined) -> int:
    """Write the pairs of a split, and return how many there are."""
    with TableWriter(path, EncoderPairRow) as table:
        for row, sentence in enumerate(mined.sentences):
            for kind, partners in mined.partners.items():
                partner = partners[row]
                if partner == NONE:
                    continue
                table.write(
                    {
                        "first": graph.texts[sentence],
                        "second": graph.texts[partner],
                        "label": int(kind == PARAPHRASE),
                        "kind": kind,
                        "cosine": float(vectors[sentence] @ vectors[partner]),
                    }
                )
        return table.rows_written


def write_parts(
    graph: Graph,
    vectors: Vectors,
    known: NDArray[np.bool_],
    config: dict[str, Any],
    output: Path,
) -> dict[str, dict[str, Any]]:
    """Write the pairs to train on, and those that are held out.

    Returns:
        By the name of the file `pairs`, how many it has, and `sentences`, `without_negative`,
        `without_vector` and the mean `neighbour_cosine`.
    """
    seed, settings = config["seed"], config["negatives"]
    dev = held_out(graph, config["held_out"], seed)
    positives = paraphrases(graph, seed)
    sides = [_SIDES.index(side) for side in config["sentences"]]
    wanted = np.zeros(len(graph.texts), bool)
    wanted[graph.edges[:, sides].ravel()] = True
    searched = search(vectors, settings, seed)
    figures: dict[str, dict[str, Any]] = {}
    # What is held out has its neighbours among all sentences, and is no neighbour in training.
    for name, members, allowed in ((TRAIN, ~dev, ~dev & known), (DEV, dev, known)):
        asked = np.flatnonzero(members & wanted & known)
        miner = Miner(graph, vectors, searched, allowed, settings, seed)
        chosen = miner.negatives(asked, positives[asked])
        has = chosen.sentences != NONE
        mined = Mined(
            asked[has], {PARAPHRASE: positives[asked][has], NEIGHBOUR: chosen.sentences[has]}
        )
        if name == DEV:
            mined.partners[RANDOM] = unrelated(graph, mined.sentences, seed)
        figures[name] = {
            "pairs": write(output / name, graph, vectors, mined),
            "sentences": int(has.sum()),
            "without_negative": int((~has).sum()),
            "without_vector": int((members & wanted & ~known).sum()),
            "neighbour_cosine": float(chosen.cosines[has].mean()) if has.any() else None,
        }
    return figures


def mine(
    config: dict[str, Any],
    pairs: Path,
    evaluation: Path,
    embedding: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    threads: int = 1,
) -> None:
    """Find a paraphrase and a negative of each sentence of a training set.

    It writes the pairs to train on, those that are held out, and their record.

    Args:
        config: `sentences`, the sides that pairs are made of; `negatives`, see `Miner`;
            `held_out`, the share of the sentences; `seed`; and `tasks`, folders by name, if the
            encoder is tested on tasks.
        pairs: the training set (Parquet).
        evaluation: the STS data that the run tests on (Parquet).
        embedding: the folder of the embedding.

    Raises:
        InputError: a file is damaged or changed; no pair is left to train on, or none is held out.
    """
    torch.set_num_threads(threads)
    rejected = Counter[str]()
    with unchanged(inputs or {}):
        verify(pairs)
        verify(embedding / EMBEDDING_RECORD)
        barred = tested_on(evaluation, config.get("tasks", {}))
        total = count_rows(pairs)
        graph = graph_of(progress(_rows(pairs), total, "encoder: pairs"), barred, rejected)
        _require(len(graph.texts), pairs, rejected)
        model = load(embedding)
        output.mkdir(parents=True, exist_ok=True)
        path = output / _VECTORS
        try:
            vectors, known = encoded(graph.texts, model.encode, path)
            figures = write_parts(graph, vectors, known, config, output)
        finally:
            path.unlink(missing_ok=True)
    counts = {}
    for name, part in figures.items():
        counts[Path(name).stem] = part.pop("pairs")
        lacking = {reason: part[reason] for reason in ("without_negative", "without_vector")}
        _require(counts[Path(name).stem], pairs, {**rejected, **lacking}, name)
    extra = {
        **{Path(name).stem: part for name, part in figures.items()},
        "texts": len(graph.texts),
        "groups": len(np.unique(graph.groups)),
        "largest_group": int(np.bincount(graph.groups).max()),
        "pairs": counts,
    }
    files = [output / TRAIN, output / DEV]
    write_record(output / RECORD, total, len(graph.edges), dict(rejected), extra, files)


def _rows(pairs: Path) -> Iterator[tuple[str, str]]:
    for row in read_rows(pairs, TrainingPairRow, list(_SIDES)):
        yield row["reference"], row["paraphrase"]


def _require(count: int, pairs: Path, left_out: Mapping[str, int], name: str = TRAIN) -> None:
    if count:
        return
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in left_out.items() if number)
    what = "trained on" if name == TRAIN else "held out"
    raise InputError(
        f"{pairs}: no pair can be {what} (left out: {reasons or 'none'}); paraphrase more "
        "references, widen encoders.<name>.negatives and held_out, or (without_vector) name an "
        "embedding that knows their words"
    )


main = command(mine, __name__)
