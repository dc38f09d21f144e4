"""The one way text becomes sub-word pieces and comes back."""

from pathlib import Path

import numpy as np
import sentencepiece

from workflow_scripts.core.errors import InputError

# Nats by which SentencePiece holds an unknown character less likely than its rarest piece.
_UNKNOWN_PENALTY = 10.0


def segmenter_path(folder: Path, side: str) -> Path:
    """Return the sub-word model of a side ("source" or "reference") in a model folder.

    Whoever reads it verifies it first: `verify_file(path, "model")`.
    """
    return folder / f"{side}.model"


class Segmenter:
    """A SentencePiece model.

    Args:
        path: the model file.

    Raises:
        InputError: the file is missing or is no SentencePiece model.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        except (OSError, RuntimeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: can't be read as a SentencePiece model ({error})") from error
        self._scores = {
            piece: self._processor.get_score(self._processor.piece_to_id(piece))
            for piece in self.vocabulary()
        }
        self._unknown_score = min(self._scores.values()) - _UNKNOWN_PENALTY

    def pieces(self, text: str) -> list[str]:
        """Return the Viterbi segmentation."""
        return self._processor.encode_as_pieces(text)

    def nbest(self, text: str, n: int) -> list[tuple[list[str], float]]:
        """Return up to `n` best segmentations and their log-probabilities (nats), best first.

        Only unigram models have them; the model's own sampler is not used because it can't be
        seeded per sentence.
        """
        # The library gives scores only with a protocol buffer per piece, ten times slower.
        # A run of unknown characters is one piece, scored character by character.
        score, unknown = self._scores.get, self._unknown_score
        return [
            (pieces, sum(score(piece, unknown * len(piece)) for piece in pieces))
            for pieces in self._processor.nbest_encode(text, nbest_size=n, out_type=str)
        ]

    def text(self, pieces: list[str]) -> str:
        """Join pieces to text again."""
        return self._processor.decode_pieces(pieces)

    def vocabulary(self) -> list[str]:
        """Return the pieces that a segmentation can hold, in the model's order."""
        processor = self._processor
        return [
            processor.id_to_piece(index)
            for index in range(processor.get_piece_size())
            if not (processor.is_control(index) or processor.is_unknown(index))
        ]


def sample_segmentations(
    segmenter: Segmenter,
    text: str,
    count: int,
    nbest: int,
    alpha: float,
    generator: np.random.Generator,
) -> list[list[str]]:
    """Draw `count` segmentations of `text`, with replacement, from its `nbest` best ones.

    The probability of a segmentation is proportional to its model probability to the power of
    `alpha`: 0 is uniform, 1 the model's own (Kudo 2018, subword regularisation, section 3.2).
    """
    candidates = segmenter.nbest(text, nbest)
    logits = alpha * np.array([logprob for _, logprob in candidates])
    weights = np.exp(logits - logits.max())
    chosen = generator.choice(len(candidates), size=count, p=weights / weights.sum())
    return [candidates[index][0] for index in chosen]
