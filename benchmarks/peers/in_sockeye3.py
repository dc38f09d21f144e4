"""Sockeye 3 itself. Its sampler knows no constraints."""

import logging
from collections.abc import Callable
from pathlib import Path

import torch
from sockeye.beam_search import CandidateScorer
from sockeye.data_io import create_batch_from_parallel_sample
from sockeye.inference import Translator, make_input_from_plain_string
from sockeye.model import load_model
from sockeye.scoring import BatchScorer, Scorer

from benchmarks.peers.tasks import Sentence, pieces
from workflow_scripts.nmt.vocabulary import BOS, EOS

_CPU = torch.device("cpu")


class Sockeye:
    """Searches and scores with one model folder."""

    def __init__(self, folder: Path):
        logging.disable(logging.WARNING)
        self._model, self._source_vocabs, self._target_vocabs = load_model(
            str(folder), device=_CPU, inference_only=True
        )
        # Its score is NLL per token.
        self._scorer = CandidateScorer(1.0, 0.0, 0.0)
        vocabs = (self._source_vocabs, self._target_vocabs)
        # A model for inference has no causal mask: it can't score.
        model, _, _ = load_model(str(folder), device=_CPU, inference_only=False)
        self._scoring = Scorer(model.eval(), BatchScorer(self._scorer), *vocabs, _CPU)

    def _translator(self, beam_size: int, rows: int, **settings: int) -> Translator:
        return Translator(
            device=_CPU,
            ensemble_mode="linear",
            scorer=self._scorer,
            batch_size=rows // beam_size,
            beam_search_stop="all",
            models=[self._model],
            source_vocabs=self._source_vocabs,
            target_vocabs=self._target_vocabs,
            beam_size=beam_size,
            output_scores=True,
            **settings,
        )

    def sample_freely(self, samples: int, k: int, rows: int) -> Callable[[list[Sentence]], int]:
        """Draw the samples of as many sets at once as the rows allow, without constraints."""
        translator = self._translator(samples, rows, sample=k, nbest_size=samples)

        def run(sentences: list[Sentence]) -> int:
            texts = [each.source for each in sentences for _ in each.avoid]
            outputs = translator.translate(self._inputs(texts))
            return sum(len(ids) for output in outputs for ids in output.nbest_tokens)

        return run

    def beam(self, beam_size: int, rows: int) -> Callable[[list[Sentence]], int]:
        """Translate by beam search, as many sentences at once as the rows allow."""
        translator = self._translator(beam_size, rows)

        def run(sentences: list[Sentence]) -> int:
            outputs = translator.translate(self._inputs([each.source for each in sentences]))
            return sum(len(output.tokens) + 1 for output in outputs)

        return run

    def _inputs(self, sources: list[list[int]]) -> list:
        return [
            make_input_from_plain_string(number, " ".join(pieces(source)))
            for number, source in enumerate(sources)
        ]

    def score(self, pairs: list[tuple[list[int], list[int]]], rows: int) -> list[float]:
        """Return the NLL per token of equally long pairs, `rows` of them at once."""
        nlls = []
        for first in range(0, len(pairs), rows):
            batch = pairs[first : first + rows]
            tensors = (
                torch.tensor([[*source, EOS] for source, _ in batch]),
                torch.tensor([[BOS, *target] for _, target in batch]),
                torch.tensor([[*target, EOS] for _, target in batch]),
            )
            columns = (tensor[:, :, None].int() for tensor in tensors)
            with torch.inference_mode():
                scores = self._scoring.score_batch(create_batch_from_parallel_sample(*columns))
            nlls += scores[:, 0].tolist()
        return nlls
