"""What turns the sentences of a task into vectors, and where these are kept."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.manifest import sha256 as hash_of
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.core.files.vectors import read_vectors, summary
from workflow_scripts.encoding.embedding import load as load_embedding
from workflow_scripts.encoding.parts import CONFIG
from workflow_scripts.encoding.sentence_vectors import load_encoder
from workflow_scripts.stages.transfer.classifiers import Features, Floats
from workflow_scripts.stages.transfer.protocol import Encode
from workflow_scripts.stages.transfer.senteval_readers import TaskData

# Sentences that are encoded and written at once.
_CHUNK = 2048


class Representation(NamedTuple):
    """A way to represent sentences.

    Attributes:
        identity: the hash of all that its vectors follow from, besides the sentences.
        load: gives the function that turns sentences into vectors, shape (sentences, size), when
            it is first needed; None: a bag of words, whose vocabulary is each task's own.
    """

    identity: str
    load: Callable[[], Callable[[Sequence[str]], Floats]] | None

    @property
    def sparse(self) -> bool:
        """Whether the vectors are sparse, which scikit-learn's classifier alone takes."""
        return self.load is None


def hashed(*content: Any) -> str:
    """Return the hash of some content, of what JSON has."""
    return sha256(canonical(list(content)).encode("utf-8")).hexdigest()


def model(folder: Path, untrained: bool = False) -> Representation:
    """Return an embedding of a run, or a model of sentence-transformers.

    Args:
        folder: of the model.
        untrained: take the embedding as it was before training.

    Raises:
        InputError: there is no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of a model; correct the path")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = {
        path.relative_to(folder).as_posix(): hash_of(path)
        for path in files
        if path.suffix in (".json", ".safetensors", ".bin", ".model", ".txt")
    }
    if untrained and not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder}: only an embedding of a run has an untrained counterpart; leave --untrained "
            "out"
        )

    def load() -> Callable[[Sequence[str]], Floats]:
        if untrained:
            return load_embedding(folder, untrained=True).encode
        return load_encoder(folder).encode

    return Representation(hashed("model", hashes, untrained), load)


def word_vectors(path: Path, tasks: Iterable[TaskData]) -> Representation:
    """Return the average of the vectors of a sentence's words, as SentEval's example has it.

    A word is looked up as it stands, then in lower case; one without a vector does not count, and
    a sentence without any known word is a vector of zeros.

    Args:
        path: of the file, see `core.files.vectors.read_vectors`.
        tasks: whose words are read.

    Raises:
        InputError: the file is not what it should be, or has none of the words.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file of word vectors; correct the path")
    words = {
        word
        for task in tasks
        for row in _rows(task)
        for text in (row.first, row.second or "")
        for token in text.split()
        for word in (token, token.lower())
    }

    def load() -> Callable[[Sequence[str]], Floats]:
        rejected: Counter[str] = Counter()
        table: dict[str, Floats] = {}
        read = 0
        for word, vector in read_vectors(path, rejected):
            read += 1
            if word in words:
                table[word] = vector
        print(
            f"{summary(path, read, rejected)}; {len(table):,} are of the tasks' words",
            file=sys.stderr,
        )
        if not table:
            raise InputError(
                f"{path}: it has none of the words of the tasks; name vectors of their language"
            )
        size = len(next(iter(table.values())))

        def encode(sentences: Sequence[str]) -> Floats:
            means = np.zeros((len(sentences), size), np.float32)
            for row, sentence in enumerate(sentences):
                known = [
                    table[word if word in table else word.lower()]
                    for word in sentence.split()
                    if word in table or word.lower() in table
                ]
                if known:
                    means[row] = np.mean(known, axis=0)
            return means

        return encode

    return Representation(hashed("word vectors", hash_of(path)), load)


def bag_of_words() -> Representation:
    """Return bags of words: which words of the task, in lower case, a sentence has."""
    return Representation(hashed("bag of words"), None)


def task_identity(data: TaskData) -> str:
    """Return the hash of a task's rows, in their order."""
    return hashed(data.task, {part: list(map(list, rows)) for part, rows in data.parts.items()})


def encoder(
    representation: Representation, data: TaskData, work: Path | None, scaled: bool = False
) -> Encode:
    """Return what turns sentences of a task into vectors.

    Args:
        representation: which one.
        data: the task. All its different sentences are encoded once.
        work: folder in which vectors are kept, under the hash of model and sentences; None: they
            are kept in memory alone.
        scaled: divide all by one number, see `protocol.Settings`; bags of words stay as they are.

    Raises:
        InputError: the model can't be read, or gives numbers that are not finite.
    """
    # Sorted: SICK-R and SICK-E have the same sentences in another order, and share their vectors.
    sentences = sorted(set(_sentences(data)))
    if representation.load is None:
        return _bags(sentences)
    name = hashed(representation.identity, sentences)
    if work is None:
        table = np.concatenate(list(_chunks(representation.load(), sentences)))
    else:
        table = _kept(work / f"vectors-{name}.npy", representation, sentences)
    size = _size(table) if scaled else np.float32(1)
    places = {sentence: place for place, sentence in enumerate(sentences)}
    return lambda wanted: np.asarray(
        table[[places[sentence] for sentence in wanted]] / size, np.float32
    )


def _size(table: Floats) -> np.float32:
    """Return the root of the mean square of all numbers; 1 if they are all 0."""
    chunks = (table[start : start + _CHUNK] for start in range(0, len(table), _CHUNK))
    square = sum(float(np.square(chunk, dtype=np.float64).sum()) for chunk in chunks)
    return np.float32(np.sqrt(square / table.size)) if square else np.float32(1)


def _sentences(data: TaskData) -> Iterator[str]:
    for row in _rows(data):
        yield row.first
        if row.second is not None:
            yield row.second


def _rows(data: TaskData) -> Iterator[Any]:
    for rows in data.parts.values():
        yield from rows


def _bags(sentences: list[str]) -> Encode:
    counter = CountVectorizer(analyzer=_lower_words, binary=True, dtype=np.float32)
    counter.fit(sentences)

    def encode(wanted: Sequence[str]) -> Features:
        return sparse.csr_matrix(counter.transform(wanted))

    return encode


def _lower_words(sentence: str) -> list[str]:
    return sentence.lower().split()


def _chunks(
    encode: Callable[[Sequence[str]], Floats], sentences: Sequence[str]
) -> Iterator[Floats]:
    for start in range(0, len(sentences), _CHUNK):
        vectors = encode(sentences[start : start + _CHUNK])
        if not np.isfinite(vectors).all():
            raise InputError(
                "the model gives vectors with numbers that are not finite; train it again, or "
                "name another"
            )
        yield vectors


def _kept(path: Path, representation: Representation, sentences: Sequence[str]) -> Floats:
    """Return the vectors in a file, which is written first where it is missing or damaged."""
    if path.is_file():
        try:
            verify(path)
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except InputError:
            pass  # left by a kill, or damaged: it is made again
    assert representation.load is not None
    encode = representation.load()
    with atomic_path(path) as temporary:
        table = None
        done = 0
        for vectors in _chunks(encode, sentences):
            if table is None:
                shape = (len(sentences), vectors.shape[1])
                table = np.lib.format.open_memmap(
                    temporary, mode="w+", dtype=np.float32, shape=shape
                )
            table[done : done + len(vectors)] = vectors
            done += len(vectors)
        assert table is not None  # a task has sentences
        table.flush()
    write_record(path, len(sentences), len(sentences), {})
    return np.load(path, mmap_mode="r", allow_pickle=False)
