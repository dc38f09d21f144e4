"""The rows of Parquet tables as typed dicts: one for each schema in `tables.SCHEMAS`.

A test compares them with the schemas. A key that may be None holds a null in its column.
"""

from typing import Literal, TypedDict

# A side of the bitext: the columns with its text have this name.
Side = Literal["source", "reference"]


# The columns of every pair that need no model, beside its id and texts (docs/filter.md).
COUNT_COLUMNS = ("rank", "reference_words", "paraphrase_words")
# Those of them that a model gives a candidate, so that pairs from outside have none.
MODEL_COLUMNS = ("translation_cost", "backward_nll", "sum")
PAIR_COLUMNS = (
    *COUNT_COLUMNS,
    *MODEL_COLUMNS,
    *("overlap_1", "overlap_2", "overlap_3"),
    *("intersection_over_union", "intersection_over_union_bags"),
    *("bleu_nakov", "sacrebleu_exp", "sacrebleu_floor", "sacrebleu_add_k", "sacrebleu_none"),
)


class PairRow(TypedDict):
    """A pair of the bitext: `pairs`."""

    id: str
    source: str
    reference: str
    corpus: str


class PairScoreRow(TypedDict):
    """The NLLs of one pair: `pair_scores`."""

    id: str
    forward_nll: float
    backward_nll: float


class SegmentRow(TypedDict):
    """One segmentation of one pair, pieces with blanks between: `segments`."""

    id: str
    split: str
    copy: int
    source: str
    reference: str


class ReferenceRow(PairRow):
    """A pair whose reference is paraphrased: `references`."""


class DocumentFrequencyRow(TypedDict):
    """A word and the number of references that it stands in: `document_frequencies`."""

    word: str
    references: int


class GeneratedSet(TypedDict):
    """A constraint set of a reference: its words."""

    set: int
    variant: str
    avoid: list[str]
    want: list[str]


class GeneratedCandidate(TypedDict):
    """A candidate as the search found it."""

    set: int
    sample: int
    variant: str
    text: str
    forward_nll: float


class CandidatesRow(PairRow):
    """A reference with its constraint sets and all candidates: `candidates`."""

    sets: list[GeneratedSet]
    dropped: int
    blocked: int
    unmet: int
    candidates: list[GeneratedCandidate]


class ScoredCandidate(TypedDict):
    """A distinct text among the candidates; a pruned one has no backward NLL and no sum.

    `variant` names all variants that gave it, with blanks between.
    """

    text: str
    forward_nll: float
    backward_nll: float | None
    sum: float | None
    count: int
    variant: str


class ScoredRow(PairRow):
    """A reference with its distinct candidates: `scored`."""

    candidates: list[ScoredCandidate]


class JudgedRow(TypedDict):
    """The probabilities of a reference's candidates, in the order of its `scored` row: `judged`.

    It is None where the candidate was not judged.
    """

    id: str
    probabilities: list[float | None]


class JudgedCandidate(ScoredCandidate):
    """A scored candidate with the probability that it is good; None if it was not judged."""

    probability: float | None


class ReferenceScoreRow(TypedDict):
    """The NLLs of a reference itself, given its source and back: `reference_scores`."""

    id: str
    corpus: str
    forward_nll: float
    backward_nll: float
    sum: float


class Paraphrase(TypedDict):
    """A selected candidate.

    The cluster is None where the method has no clusters, the probability where there is no judge.
    """

    rank: int
    text: str
    forward_nll: float
    backward_nll: float | None
    sum: float | None
    cluster: int | None
    variant: str
    probability: float | None


class ParaphrasesRow(PairRow):
    """A reference with its paraphrases, best first: `paraphrases`."""

    paraphrases: list[Paraphrase]
    candidates: int
    kept: int
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
    label: int
    kind: str
    cosine: float


class PairColumnsRow(TrainingPairRow):
    """A reference and one of its paraphrases, with the columns of this pair: `pair_columns`."""

    rank: int
    reference_words: int
    paraphrase_words: int
    translation_cost: float
    backward_nll: float
    sum: float
    overlap_1: float
    overlap_2: float
    overlap_3: float
    intersection_over_union: float
    intersection_over_union_bags: float
    bleu_nakov: float
    sacrebleu_exp: float
    sacrebleu_floor: float
    sacrebleu_add_k: float
    sacrebleu_none: float


class PairValueRow(TypedDict):
    """The value of one more column of the same pair: `pair_values`."""

    id: str
    rank: int
    value: float | None


class LexiconWordRow(TypedDict):
    """A word of a lexicon's pairs, and how often it stands in them: `lexicon_words`."""

    word: str
    tokens: int
    sentences: int
    references: int


class LexiconLinkRow(TypedDict):
    """Two words, packed, and how often they are expected to be aligned: `lexicon_links`."""

    key: int
    count: float


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
    score: float
    pmi_cross: float | None
    pmi_within: float | None
    count: int
    p_paraphrase: float
    p_phrase: float


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
    """The trees of a reference and of its paraphrases: `trees`."""

    id: str
    corpus: str
    parsed: bool
    reference: str | None
    paraphrases: list[str | None]


ROWS: dict[str, type] = {
    "pairs": PairRow,
    "pair_scores": PairScoreRow,
    "segments": SegmentRow,
    "references": ReferenceRow,
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
