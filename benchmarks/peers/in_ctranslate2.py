"""CTranslate2 with the weights of a Sockeye 3 model folder, or of M2M100 of Hugging Face."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import torch
from ctranslate2.specs.transformer_spec import TransformerSpec
from transformers import M2M100ForConditionalGeneration

from benchmarks.peers import ctranslate2_folders
from benchmarks.peers.tasks import (
    OUTPUT_TOKENS,
    TOP_K,
    Sentence,
    Shape,
    pieces,
    separated,
    sockeye_weights,
)
from tests.unit.nmt.random_m2m100 import names
from workflow_scripts.nmt.blocks import NORM_EPSILON

SETTINGS = {"beam_size": 1, "sampling_topk": TOP_K, "max_decoding_length": OUTPUT_TOKENS}


def convert(folder: Path, shape: Shape, target: Path) -> Path:
    """Write the model folder of a pre-norm Transformer as a CTranslate2 model."""
    weights = sockeye_weights(folder)

    def array(tensor: torch.Tensor) -> np.ndarray:
        return tensor.contiguous().numpy()

    def norm(spec: object, name: str) -> None:
        spec.gamma = array(weights[f"{name}.layer_norm.weight"])
        spec.beta = array(weights[f"{name}.layer_norm.bias"])

    def self_attention(spec: object, prefix: str, name: str) -> None:
        norm(spec.layer_norm, f"{prefix}.pre_{name}")
        query, memory = weights[f"{prefix}.{name}.ff_in.weight"].split([shape.size, 2 * shape.size])
        spec.linear[0].weight = array(torch.cat([query, *separated(memory, shape.heads)]))
        spec.linear[1].weight = array(weights[f"{prefix}.{name}.ff_out.weight"])

    def cross_attention(spec: object, prefix: str) -> None:
        name = f"{prefix}.enc_attention"
        norm(spec.layer_norm, f"{prefix}.pre_enc_attention")
        memory = separated(weights[f"{name}.ff_kv.weight"], shape.heads)
        spec.linear[0].weight = array(weights[f"{name}.ff_q.weight"])
        spec.linear[1].weight = array(torch.cat(memory))
        spec.linear[2].weight = array(weights[f"{name}.ff_out.weight"])

    def feed_forward(spec: object, prefix: str) -> None:
        norm(spec.layer_norm, f"{prefix}.pre_ff")
        for linear, name in ((spec.linear_0, "ff1"), (spec.linear_1, "ff2")):
            linear.weight = array(weights[f"{prefix}.ff.{name}.weight"])
            linear.bias = array(weights[f"{prefix}.ff.{name}.bias"])

    spec = TransformerSpec.from_config(shape.layers, shape.heads)
    for side, name, embedding in (
        (spec.encoder, "encoder", spec.encoder.embeddings[0]),
        (spec.decoder, "decoder", spec.decoder.embeddings),
    ):
        table = "embedding_source" if name == "encoder" else "embedding_target"
        embedding.weight = array(weights[f"{table}.embedding.weight"])
        side.position_encodings.encodings = array(weights[f"{name}.pos_embedding.weight"])
        norm(side.layer_norm, f"{name}.final_process")
        attention = "self_attention" if name == "encoder" else "autoregr_layer"
        for index, layer in enumerate(side.layer):
            prefix = f"{name}.layers.{index}"
            self_attention(layer.self_attention, prefix, attention)
            feed_forward(layer.ffn, prefix)
            if name == "decoder":
                cross_attention(layer.attention, prefix)
    spec.decoder.projection.weight = array(weights["output_layer.weight"])
    spec.decoder.projection.bias = array(weights["output_layer.bias"])
    vocabulary = pieces(list(range(shape.vocabulary)))
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = NORM_EPSILON
    spec.validate()
    spec.optimize(quantization="float32")
    target.mkdir()
    spec.save(str(target))
    return target


def convert_m2m100(folder: Path, target: Path, precision: str) -> None:
    """Write a folder of `random_m2m100` as a CTranslate2 model, by its own converter."""
    model = M2M100ForConditionalGeneration.from_pretrained(folder)
    ctranslate2_folders.convert(model, names(model.config.vocab_size), target, precision)


class Translator:
    """CTranslate2 on one thread, in `precision` "float32" or "int8".

    `around`: tokens in front of a source and behind it; `prefix`: what every output begins with.
    """

    def __init__(
        self,
        folder: Path,
        precision: str,
        around: tuple[list[str], list[str]] = ([], []),
        prefix: Sequence[str] = (),
    ):
        self._around, self._prefix = around, [*prefix]
        self._translator = ctranslate2.Translator(
            str(folder), compute_type=precision, inter_threads=1, intra_threads=1
        )

    def sample(self, samples: int) -> Callable[[list[Sentence]], int]:
        """Sample every constraint set in a call of its own: a call has one set of phrases."""

        def run(sentences: list[Sentence]) -> int:
            return sum(len(each) for one in sentences for each in self.sampled(one, samples))

        return run

    def sampled(self, sentence: Sentence, samples: int) -> Iterator[list[str]]:
        """Yield the pieces of the samples of every constraint set."""
        for phrases in sentence.avoid:
            (result,) = self._translate(
                [sentence],
                num_hypotheses=samples,
                suppress_sequences=[pieces(phrase) for phrase in phrases],
                **SETTINGS,
            )
            yield from result.hypotheses

    def sample_freely(self, samples: int) -> Callable[[list[Sentence]], int]:
        """Draw all samples of a sentence in one call, without constraints."""

        def run(sentences: list[Sentence]) -> int:
            tokens = 0
            for sentence in sentences:
                number = samples * len(sentence.avoid)
                (result,) = self._translate([sentence], num_hypotheses=number, **SETTINGS)
                tokens += sum(len(each) - len(self._prefix) for each in result.hypotheses)
            return tokens

        return run

    def beam(self, beam_size: int, rows: int) -> Callable[[list[Sentence]], int]:
        """Translate by beam search, as many sentences at once as the rows allow."""

        def run(sentences: list[Sentence]) -> int:
            results = self._translate(
                sentences,
                beam_size=beam_size,
                max_decoding_length=OUTPUT_TOKENS,
                max_batch_size=rows // beam_size,
            )
            return sum(len(result.hypotheses[0]) - len(self._prefix) for result in results)

        return run

    def score(self, pairs: list[tuple[list[int], list[int]]], rows: int) -> list[float]:
        """Return the NLL per token of (source, target) pairs, `rows` of them at once."""
        results = self._translator.score_batch(
            [self._source(source) for source, _ in pairs],
            [[*self._prefix, *pieces(target)] for _, target in pairs],
            max_batch_size=rows,
        )
        own = [result.log_probs[len(self._prefix) :] for result in results]
        return [-sum(log_probs) / len(log_probs) for log_probs in own]

    def _source(self, ids: list[int]) -> list[str]:
        before, behind = self._around
        return [*before, *pieces(ids), *behind]

    def _translate(self, sentences: list[Sentence], **settings: Any) -> list[Any]:
        return self._translator.translate_batch(
            [self._source(sentence.source) for sentence in sentences],
            target_prefix=[self._prefix] * len(sentences) if self._prefix else None,
            **settings,
        )
