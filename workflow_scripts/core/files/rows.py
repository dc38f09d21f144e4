"""The rows of Parquet tables as typed dicts. The schema of a file follows from its row.

A string is a string, a bool a bool, an int has 64 bits and a float 64; `Int32` and similar
types say another width. A list is a list, a typed dict a struct. A key that may be None holds a
null in its column. `ROWS` has the names of the schemas.

The Snakefile imports this module: only the standard library.
"""

from typing import Annotated, Literal, TypeAlias, TypedDict

# A side of the bitext: the columns with its text have this name.
Side = Literal["source", "reference"]

# Numbers by the Arrow types of their columns.
Int8: TypeAlias = Annotated[int, "int8"]
Int32: TypeAlias = Annotated[int, "int32"]
Float32: TypeAlias = Annotated[float, "float32"]


class PairRow(TypedDict):
    """A pair of the bitext: `pairs`."""

    id: str
    source: str
    reference: str
    corpus: str


class PairScoreRow(TypedDict):
    """The NLLs of one pair, in nats per target token, </s> included: `pair_scores`."""

    id: str
    forward_nll: Float32
    backward_nll: Float32


class SegmentRow(TypedDict):
    """One segmentation of one pair, pieces with blanks between: `segments`."""

    id: str
    split: str
    copy: Int32
    source: str
    reference: str


class ReferenceRow(PairRow):
    """A pair whose reference is paraphrased: `references`."""


class WrittenSource(TypedDict):
    """A source that the backward model wrote for a reference, and both NLLs.

    `backward_nll`: of the source, given the reference; `forward_nll`: of the reference, given the
    source, infinite where a model can't read one of them; None where the reference has a source
    besides.
    """

    text: str
    backward_nll: Float32
    forward_nll: Float32 | None


class WrittenRow(TypedDict):
    """A reference and the sources that were written for it, best first: `written`."""

    id: str
    reference: str
    corpus: str
    sources: list[WrittenSource]


class DocumentFrequencyRow(TypedDict):
    """A word and the number of references that it stands in: `document_frequencies`."""

    word: str
    references: int


class GeneratedSet(TypedDict):
    """A constraint set of a reference: its words."""

    set: Int32
    variant: str
    avoid: list[str]
    want: list[str]


class GeneratedCandidate(TypedDict):
    """A candidate as the search found it.

    `source`: the written source that was read; None: that of the row.
    """

    set: Int32
    sample: Int32
    variant: str
    text: str
    forward_nll: Float32
    source: str | None


class CandidatesRow(PairRow):
    """A reference with its constraint sets and all candidates: `candidates`."""

    sets: list[GeneratedSet]
    dropped: Int32
    blocked: Int32
    unmet: Int32
    candidates: list[GeneratedCandidate]


class ScoredCandidate(TypedDict):
    """A distinct text among the candidates; a pruned one has no backward NLL and no sum.

    `variant` names all variants that gave it, with blanks between. `source`: the written source
    that its NLLs are of; None: that of the row. `lost` and `divergence` compare it with the
    reference (`nmt.divergence`); None if it was pruned or merged, or either can't be read.
    """

    text: str
    forward_nll: Float32
    backward_nll: Float32 | None
    sum: Float32 | None
    count: Int32
    variant: str
    source: str | None
    lost: Float32 | None
    divergence: Float32 | None


class ScoredRow(PairRow):
    """A reference with its distinct candidates: `scored`."""

    candidates: list[ScoredCandidate]


class JudgedRow(TypedDict):
    """The probabilities of a reference's candidates, in the order of its `scored` row: `judged`.

    It is None where the candidate was not judged.
    """

    id: str
    probabilities: list[Float32 | None]


class JudgedCandidate(ScoredCandidate):
    """A scored candidate with the probability that it is good; None if it was not judged."""

    probability: Float32 | None


class ReferenceScoreRow(TypedDict):
    """The NLLs of a reference itself, given its source and back: `reference_scores`."""

    id: str
    corpus: str
    forward_nll: Float32
    backward_nll: Float32
    sum: Float32


class Paraphrase(TypedDict):
    """A selected candidate.

    The cluster is None where the method has no clusters, the probability where there is no judge.
    """

    rank: Int32
    text: str
    forward_nll: Float32
    backward_nll: Float32 | None
    sum: Float32 | None
    cluster: Int32 | None
    variant: str
    probability: Float32 | None


class ParaphrasesRow(PairRow):
    """A reference with its paraphrases, best first: `paraphrases`."""

    paraphrases: list[Paraphrase]
    candidates: Int32
    kept: Int32
    reason: str


class TrainingPairRow(TypedDict):
    """A pair of a training set: `training_pairs`."""

    id: str
    reference: str
    paraphrase: str


class EncoderPairRow(TypedDict):
    """A pair that paraphrase identification is learnt from: `encoder_pairs`.

    `label`: 1 for a paraphrase; `kind`: how the second sentence was found; `cosine`: of the two
    under the embedding that negatives are found by.
    """

    first: str
    second: str
    label: Int8
    kind: str
    cosine: Float32


class PairColumnsRow(TrainingPairRow):
    """A reference and one of its paraphrases, with the columns of this pair: `pair_columns`."""

    rank: Int32
    reference_words: Int32
    paraphrase_words: Int32
    translation_cost: Float32
    backward_nll: Float32
    sum: Float32
    overlap_1: Float32
    overlap_2: Float32
    overlap_3: Float32
    intersection_over_union: Float32
    intersection_over_union_bags: Float32
    bleu_nakov: Float32
    sacrebleu_exp: Float32
    sacrebleu_floor: Float32
    sacrebleu_add_k: Float32
    sacrebleu_none: Float32


class PairValueRow(TypedDict):
    """The value of one more column of the same pair: `pair_values`."""

    id: str
    rank: Int32
    value: Float32 | None


class LexiconWordRow(TypedDict):
    """A word of a lexicon's pairs, and how often it stands in them: `lexicon_words`.

    The first row is the word with number 1. `tokens`: how often it came; `sentences`, `references`:
    in how many of each.
    """

    word: str
    tokens: int
    sentences: int
    references: int


class LexiconLinkRow(TypedDict):
    """Two words, packed, and how often they are expected to be aligned: `lexicon_links`."""

    key: int
    count: Float32


class LexiconCountRow(TypedDict):
    """Two words, packed, and how often they stand together: `lexicon_counts`."""

    key: int
    count: int


class LexiconPhrasesRow(TypedDict):
    """Two phrases, packed, and the pairs in which they are aligned: `lexicon_phrases`."""

    first: int
    second: int
    count: int


class LexiconTagRow(TypedDict):
    """The most frequent part of speech of a word: `lexicon_tags`."""

    word: str
    tag: str


class LexiconRow(TypedDict):
    """A phrase and one of its paraphrases: `lexicon` (docs/lexicon.md has the columns)."""

    phrase: str
    paraphrase: str
    tag: str | None
    score: Float32
    pmi_cross: Float32 | None
    pmi_within: Float32 | None
    count: int
    p_paraphrase: Float32
    p_phrase: Float32


class StsPairRow(TypedDict):
    """Two sentences and how similar people find them: `sts_pairs`."""

    data_set: str
    group: str
    score: float
    first: str
    second: str


class TransferRow(TypedDict):
    """A sentence of a transfer task, or two, with its class or grade: `transfer_rows`."""

    task: str
    part: str
    label: float
    first: str
    second: str | None


class TreesRow(TypedDict):
    """The trees of a reference and of its paraphrases, in Penn Treebank brackets: `trees`.

    None stands where a sentence has no tree.
    """

    id: str
    corpus: str
    parsed: bool
    reference: str | None
    paraphrases: list[str | None]


# The columns of every pair that need no model, beside its id and texts (docs/filter.md).
PAIR_COLUMNS = tuple(
    column
    for column in PairColumnsRow.__annotations__
    if column not in TrainingPairRow.__annotations__
)
# Those of them that a model gives a candidate, so that pairs from outside have none.
MODEL_COLUMNS = ("translation_cost", "backward_nll", "sum")

# By the name of the schema, in messages and records.
ROWS: dict[str, type] = {
    "pairs": PairRow,
    "pair_scores": PairScoreRow,
    "segments": SegmentRow,
    "references": ReferenceRow,
    "written": WrittenRow,
    "document_frequencies": DocumentFrequencyRow,
    "candidates": CandidatesRow,
    "scored": ScoredRow,
    "judged": JudgedRow,
    "reference_scores": ReferenceScoreRow,
    "paraphrases": ParaphrasesRow,
    "pair_columns": PairColumnsRow,
    "pair_values": PairValueRow,
    "training_pairs": TrainingPairRow,
    "lexicon_words": LexiconWordRow,
    "lexicon_links": LexiconLinkRow,
    "lexicon_counts": LexiconCountRow,
    "lexicon_phrases": LexiconPhrasesRow,
    "lexicon_tags": LexiconTagRow,
    "lexicon": LexiconRow,
    "sts_pairs": StsPairRow,
    "transfer_rows": TransferRow,
    "encoder_pairs": EncoderPairRow,
    "trees": TreesRow,
}
SCHEMA_NAMES = {row: name for name, row in ROWS.items()}
