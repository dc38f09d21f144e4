"""Measure a lexicon: word similarity, precision, antonyms, and on the testbed exact synonyms.

docs/lexicon.md says how each figure is made.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json, write_text
from workflow_scripts.core.files.input_files import files_below, unchanged
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.rows import LexiconRow, TrainingPairRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.core.files.tsv import table_text
from workflow_scripts.core.files.vectors import read_vectors
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.text.word_tokens import words_and_punctuation
from workflow_scripts.encoding import embedding as embedding
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.stages.lexicon.measures_data import (
    Listed,
    Pair,
    WordPairs,
    name_of,
    read_antonyms,
    read_rules,
    read_word_pairs,
)
from workflow_scripts.stages.lexicon.measures_precision import (
    ALL,
    CUTS,
    LENGTHS,
    Best,
    Resource,
    antonyms,
    length,
    listed_resource,
    precision,
    ranked,
    wordnet_resource,
)
from workflow_scripts.stages.lexicon.measures_similarity import (
    Numbers,
    chance,
    cosine_of,
    listed,
    similarity,
    unordered,
)
from workflow_scripts.stages.lexicon.measures_testbed import Synonyms, exact, occurring
from workflow_scripts.stages.lexicon.measures_wordnet import WordNet
from workflow_scripts.stages.lexicon.results import LEXICON, MEASURES

# How many entries are drawn for people to read, and from how many of the best.
_READ, _AMONG = 50, CUTS[1:]
_SIDES = ("reference", "paraphrase")

Vectors = Mapping[str, NDArray[np.float32]]
Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def entries(path: Path) -> Iterator[tuple[Pair, float]]:
    """Yield the ordered pairs of a lexicon with their scores, best first."""
    columns = ["phrase", "paraphrase", "score"]
    for row in Input(path, LexiconRow).rows(columns).items:
        yield (row["phrase"], row["paraphrase"]), row["score"]


def scores_of(path: Path, data_sets: Sequence[WordPairs]) -> dict[Pair, float]:
    """Return a lexicon's score of the pairs of the data sets, by ordered pair, the best of each."""
    wanted = {ordered for one in data_sets for pair in one.pairs for ordered in (pair, pair[::-1])}
    scores: dict[Pair, float] = {}
    for pair, score in entries(path):
        if pair in wanted:
            scores[pair] = max(score, scores.get(pair, score))
    return scores


def vectors_by(encode: Encode, vocabulary: Sequence[str]) -> Vectors:
    """Return the vectors of words, each encoded as a sentence by itself."""
    return dict(zip(vocabulary, encode(vocabulary), strict=True))


def vectors_in(path: Path, vocabulary: Sequence[str]) -> Vectors:
    """Return the vectors of words in a file.

    Raises:
        InputError: it is no file of word vectors.
    """
    wanted = set(vocabulary)
    return {word: vector for word, vector in read_vectors(path) if word in wanted}


def word_vectors(
    config: dict[str, Any],
    models: Mapping[str, Path],
    vocabulary: Sequence[str],
) -> Iterator[tuple[str, Vectors]]:
    """Yield the name of each model whose cosines are compared, with the vectors of words.

    Args:
        config: `vectors`, files of word vectors; `encoder`, settings of one or None.
        models: folders of the stage `embed`, by name; each also as it was before training.
        vocabulary: the words.

    Raises:
        InputError: a model or a file of vectors can't be read.
    """
    for name, folder in models.items():
        verify(folder / "model.json")
        for untrained, what in ((False, name), (True, f"{name}, untrained")):
            model = embedding.load(folder, untrained)
            yield what, vectors_by(model.encode, vocabulary)
    for path in map(Path, config["vectors"]):
        yield name_of(path), vectors_in(path, vocabulary)
    if config["encoder"]:
        encoder = load_encoder(encoder_folder(config["encoder"]))
        yield "encoder", vectors_by(encoder.encode, vocabulary)


def rankers(
    lexicon: Mapping[Pair, float],
    lists: Sequence[Listed],
    vectors: Iterator[tuple[str, Vectors]],
    data_sets: Sequence[WordPairs],
    seed: int,
) -> dict[str, list[Numbers]]:
    """Return the numbers that each ranker gives the pairs of each data set, by its name.

    Raises:
        InputError: two rankers have one name.
    """
    pairs = [data_set.pairs for data_set in data_sets]
    numbers = {
        LEXICON: [unordered(lexicon, of_set) for of_set in pairs],
        "chance": [chance(of_set, seed) for of_set in pairs],
    }
    for listing in lists:
        rank = unordered if listing.scored else listed
        _require_new(listing.name, numbers)
        numbers[listing.name] = [rank(listing.scores, of_set) for of_set in pairs]
    for name, of_words in vectors:
        _require_new(name, numbers)
        numbers[name] = [cosine_of(of_words, of_set) for of_set in pairs]
    return numbers


def _require_new(name: str, known: Container[str]) -> None:
    if name in known:
        raise InputError(
            f"evaluate.lexicons: two of what is compared are called '{name}'; rename the file"
        )


def resources(wordnet: WordNet | None, lists: Sequence[Listed]) -> list[Resource]:
    """Return who can say whether entries are right.

    Raises:
        InputError: two of them have one name, or one has that of the lexicon.
    """
    known: list[Resource] = [wordnet_resource(wordnet)] if wordnet else []
    for resource in map(listed_resource, lists):
        _require_new(resource.name, [LEXICON, *(other.name for other in known)])
        known.append(resource)
    return known


def drawn(best: Sequence[Pair], seed: int) -> list[tuple[int, int, str, str]]:
    """Return entries to read: among how many of the best they were drawn, their place, the pair."""
    to_read = []
    for among in (min(count, len(best)) for count in _AMONG):
        chosen = generator(seed, "read", among).permutation(among)[:_READ]
        to_read += [(among, place + 1, *best[place]) for place in sorted(chosen.tolist())]
    return list(dict.fromkeys(to_read))


def sets_of_pairs(named: Sequence[str]) -> list[WordPairs]:
    """Return the sets of word similarity in files and folders.

    Raises:
        InputError: some are named, and no set is in them.
    """
    sets = read_word_pairs(map(Path, files_below(named, "evaluate.lexicons.word_similarity")))
    if named and not sets:
        raise InputError(
            "evaluate.lexicons.word_similarity: no set of word pairs is in it; name files, or "
            "folders that have some (docs/lexicon.md)"
        )
    return sets


def precision_of_rules(
    path: Path, name: str, wordnet: WordNet, samples: int, seed: int
) -> dict[str, Any]:
    """Return the precision, by WordNet, of the best rules of a file of PPDB; `name` is its own."""
    judge = wordnet_resource(wordnet)
    cuts = precision(ranked(read_rules(path), wordnet.knows, seed), judge, samples, seed)
    return {"of": name, "by": judge.name, "words": ALL, "cuts": cuts}


def synonyms_of_testbed(lexicon: Path, training_sets: Sequence[Path]) -> dict[str, Any]:
    """Return precision and recall of a lexicon of the testbed: of all entries, and of words.

    Args:
        lexicon: its file.
        training_sets: the files of pairs that it was made of.
    """
    synonyms = Synonyms(words_and_punctuation)
    texts = (
        (words_and_punctuation(row["reference"]), words_and_punctuation(row["paraphrase"]))
        for row in Input(training_sets, TrainingPairRow).rows(list(_SIDES)).items
    )
    both, aligned = occurring(synonyms.pairs(), texts)
    words = LENGTHS[0]
    of_words = [{pair for pair in pairs if length(pair) == words} for pairs in (both, aligned)]
    entries_of_words = (entry for entry in entries(lexicon) if length(entry[0]) == words)
    return {
        ALL: exact(entries(lexicon), synonyms, both, aligned),
        words: exact(entries_of_words, synonyms, *of_words),
    }


def _measure(
    config: dict[str, Any],
    lexicon: Path,
    models: Mapping[str, Path],
    training_sets: Sequence[Path],
    output: Path,
) -> None:
    """Write the figures of a lexicon, entries to read, and their record: see `measure_lexicon`.

    Raises:
        InputError: a file can't be read, or is not of its form.
    """
    seed, samples = config["seed"], config["bootstrap"]
    data_sets = sets_of_pairs(config["word_similarity"])
    wordnet = WordNet(Path(config["wordnet"])) if config["wordnet"] else None
    vocabulary = sorted({word for one in data_sets for pair in one.pairs for word in pair})
    lists = []
    if config["ppdb"]:
        phrases = {phrase for pair, _ in entries(lexicon) for phrase in pair}.union(vocabulary)
        lists = [Listed(Path(path), phrases) for path in config["ppdb"]]
    judges = resources(wordnet, lists)
    every, of_judges = Best(), [Best(judge.knows) for judge in judges]
    total = Input(lexicon, LexiconRow).count()
    for pair, _ in progress(entries(lexicon), total, "lexicon: entries"):
        for best in (every, *of_judges):
            best.add(pair)
    figures: dict[str, Any] = {
        "entries": total,
        "similarity": None,
        "precision": [
            {"of": LEXICON, "by": judge.name, "words": kind, "cuts": cuts}
            for judge, best in zip(judges, of_judges, strict=True)
            for kind in (ALL, *LENGTHS)
            if (cuts := precision(best.entries(kind), judge, samples, seed))
        ],
        "antonyms": [],
        "testbed": None,
    }
    if data_sets:
        vectors = word_vectors(config, models, vocabulary)
        ranks = rankers(scores_of(lexicon, data_sets), lists, vectors, data_sets, seed)
        figures["similarity"] = similarity(data_sets, ranks, LEXICON, samples, seed)
    if wordnet:
        figures["precision"] += [
            precision_of_rules(Path(path), of_file.name, wordnet, samples, seed)
            for of_file, path in zip(lists, config["ppdb"], strict=True)
        ]
    if sources := opposites(config, wordnet):
        figures["antonyms"] = antonyms(every.entries(), sources)
    if config["testbed"]:
        figures["testbed"] = synonyms_of_testbed(lexicon, training_sets)
    columns = ("among", "place", "phrase", "paraphrase")
    write_text(output, table_text(columns, drawn(every.entries(), seed)))
    beside = output.with_name(MEASURES)
    write_json(beside, figures)
    write_record(output, total, total, {}, files=[output, beside])


def opposites(
    config: dict[str, Any], wordnet: WordNet | None
) -> dict[str, Callable[[str, str], bool]]:
    """Return who can say whether two phrases are antonyms, by name."""
    sources: dict[str, Callable[[str, str], bool]] = {}
    if wordnet:
        sources["wordnet"] = wordnet.antonyms
    if config["antonyms"]:
        pairs = read_antonyms(map(Path, config["antonyms"]))
        sources["files"] = lambda first, second: frozenset((first, second)) in pairs
    return sources


def measure_lexicon(
    config: dict[str, Any],
    lexicon: Path,
    output: Path,
    embeddings: dict[str, Path] | None = None,
    training_sets: list[Path] | None = None,
    inputs: dict[str, str] | None = None,
    threads: int = 1,
) -> None:
    """Measure a lexicon: word similarity, precision, antonyms, synonyms of the testbed.

    Args:
        config: `word_similarity`, `ppdb`, `antonyms`, `vectors` (files and folders), `wordnet` (a
            folder or None), `encoder` (settings or None), `testbed` (whether synonyms are known),
            `bootstrap`, `seed`.
        lexicon: its file `lexicon.parquet`.
        output: the file of entries to read; the figures stand beside it.
        embeddings: folders of embeddings to compare it with, by name.
        training_sets: the files of pairs that it was made of, read on the testbed only.
        inputs: the hashes of the files of `config`, by path; others are refused.
    """
    torch.set_num_threads(threads)
    kinds = ("word_similarity", "ppdb", "antonyms", "vectors")
    paths = [path for kind in kinds for path in config[kind]]
    with unchanged(inputs or {}, paths):
        _measure(config, lexicon, embeddings or {}, training_sets or [], output)


main = command(measure_lexicon, __name__)
