"""A judge of a run at work: the models of its features, and forced decoding."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workflow_scripts.core.files.manifest import verify
from workflow_scripts.nmt.divergence import compared_texts
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.options import SCORED_TOKENS
from workflow_scripts.nmt.scoring import forced
from workflow_scripts.stages.judge.features import Models, compute
from workflow_scripts.stages.judge.judge import Judge
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.subword.segmenter import Segmenter


class Decoder:
    """Decodes paraphrases by force, with the forward model of a run."""

    def __init__(
        self,
        folder: Path,
        device: str,
        precision: str,
        batch_tokens: int,
        rewritten: bool = False,
    ):
        """Load the forward model of a run.

        Args:
            folder: of the model.
            device: of torch.
            precision: of its weights.
            batch_tokens: positions of a batch.
            rewritten: a rewriter wrote the paraphrases; their forward NLLs, which are its own, give
                way to those of the forward model.

        Raises:
            InputError: the folder is not what its training wrote, or can't be used.
        """
        verify(folder / "model")
        self._model = load_model(folder, device, precision)
        self._source = Segmenter(folder / "source.model")
        self._target = Segmenter(folder / "reference.model")
        self._batch_tokens = batch_tokens
        self._rewritten = rewritten

    def decoded(self, pairs: Pairs) -> Pairs:
        """Return the pairs with total and worst NLL of the usual segmentation, in nats.

        They are infinite where a side is too long for the model.
        """
        assert pairs.sources is not None
        nlls = list(forced(self._model, self._ids(pairs), batch_tokens=self._batch_tokens))
        means = np.array([nll.mean for nll in nlls])
        return replace(
            pairs,
            forward_nll=means if self._rewritten else pairs.forward_nll,
            forward_total=np.array([nll.total for nll in nlls]),
            forward_worst=np.array([nll.worst for nll in nlls]),
        )

    def _ids(self, pairs: Pairs) -> Iterator[tuple[list[int], list[int]]]:
        assert pairs.sources is not None
        for source, paraphrase in zip(pairs.sources, pairs.paraphrases, strict=True):
            ids = self._model.source_ids(self._source.pieces(source))
            yield ids, self._model.target_vocab.ids(self._target.pieces(paraphrase))


def with_comparison(
    pairs: Pairs,
    model: Model,
    read: Callable[[str], list[int]],
    write: Callable[[str], list[int]],
    batch_tokens: int = SCORED_TOKENS,
) -> Pairs:
    """Return pairs with what a backward model finds; a backward NLL that is known stays.

    Args:
        pairs: with sources.
        model: the backward model, from references to sources.
        read: gives the piece ids of a reference or a paraphrase.
        write: gives those of a source.
        batch_tokens: positions of a batch.
    """
    assert pairs.sources is not None
    texts = list(zip(pairs.references, pairs.sources, pairs.paraphrases, strict=True))
    found = np.array(compared_texts(model, texts, read, write, batch_tokens), np.float64)
    nlls, lost, divergence = np.where(np.isfinite(found), found, np.nan).reshape(-1, 3).T
    if pairs.backward_nll is not None:
        nlls = np.where(np.isnan(pairs.backward_nll), nlls, pairs.backward_nll)
    return replace(pairs, backward_nll=nlls, lost=lost, divergence=divergence)


@dataclass(frozen=True)
class Bench:
    """A judge with all that it needs.

    Attributes:
        judge: gives probabilities.
        models: of its features.
        decoder: where its features need the NLLs of single tokens; None where they don't.
        max_sum: in nats per token: a candidate of a greater sum is not judged.
    """

    judge: Judge
    models: Models
    decoder: Decoder | None = None
    max_sum: float = np.inf

    def probabilities(self, pairs: Pairs) -> Numbers:
        """Return the probability of each pair to be good, shape (pairs,); NaN where unknown."""
        if self.decoder is not None:
            pairs = self.decoder.decoded(pairs)
        features = compute(pairs, dict.fromkeys([*self.judge.features, "words"]), self.models)
        return self.judge.probability(features, features["words"])
