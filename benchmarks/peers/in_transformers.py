"""Hugging Face transformers with the weights of a Sockeye 3 model folder.

Marian itself is post-norm and has no last normalisation. Pegasus is the class of the library that
holds these weights exactly: pre-norm, fixed positions, a bias of the output layer; the biases
of its attention are set to zero.
"""

from collections.abc import Callable
from pathlib import Path

import torch
from transformers import PegasusConfig, PegasusForConditionalGeneration

from benchmarks.peers.tasks import OUTPUT_TOKENS, TOP_K, Sentence, Shape, separated, sockeye_weights
from workflow_scripts.nmt.blocks import NORM_EPSILON
from workflow_scripts.nmt.vocabulary import BOS, EOS, PAD


def load(folder: Path, shape: Shape) -> PegasusForConditionalGeneration:
    """Return the model of a folder."""
    weights = sockeye_weights(folder)
    config = PegasusConfig(
        vocab_size=shape.vocabulary,
        d_model=shape.size,
        encoder_layers=shape.layers,
        decoder_layers=shape.layers,
        encoder_attention_heads=shape.heads,
        decoder_attention_heads=shape.heads,
        encoder_ffn_dim=shape.hidden,
        decoder_ffn_dim=shape.hidden,
        activation_function="relu",
        max_position_embeddings=len(weights["decoder.pos_embedding.weight"]),
        scale_embedding=True,
        tie_word_embeddings=False,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
    )
    model = PegasusForConditionalGeneration(config).eval()
    # Two tables where Pegasus has one for both sides.
    model.model.encoder.embed_tokens = torch.nn.Embedding(shape.vocabulary, shape.size)
    model.model.decoder.embed_tokens = torch.nn.Embedding(shape.vocabulary, shape.size)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = NORM_EPSILON
    state = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
    state |= _renamed(weights, shape)
    model.load_state_dict(state, strict=True)
    return model


def _renamed(weights: dict[str, torch.Tensor], shape: Shape) -> dict[str, torch.Tensor]:
    """Return Sockeye's weights by the names of Pegasus."""
    state = {
        "lm_head.weight": weights["output_layer.weight"],
        "final_logits_bias": weights["output_layer.bias"][None],
    }
    for side, table, attention in (
        ("encoder", "embedding_source", "self_attention"),
        ("decoder", "embedding_target", "autoregr_layer"),
    ):
        own = f"model.{side}"
        state[f"{own}.embed_tokens.weight"] = weights[f"{table}.embedding.weight"]
        state[f"{own}.embed_positions.weight"] = weights[f"{side}.pos_embedding.weight"]
        norms = {f"{side}.final_process": f"{own}.layer_norm"}
        for index in range(shape.layers):
            old, new = f"{side}.layers.{index}", f"{own}.layers.{index}"
            query, memory = weights[f"{old}.{attention}.ff_in.weight"].split(
                [shape.size, 2 * shape.size]
            )
            blocks = {"self_attn": (query, memory, weights[f"{old}.{attention}.ff_out.weight"])}
            norms[f"{old}.pre_{attention}"] = f"{new}.self_attn_layer_norm"
            norms[f"{old}.pre_ff"] = f"{new}.final_layer_norm"
            if side == "decoder":
                names = ("ff_q", "ff_kv", "ff_out")
                blocks["encoder_attn"] = tuple(
                    weights[f"{old}.enc_attention.{name}.weight"] for name in names
                )
                norms[f"{old}.pre_enc_attention"] = f"{new}.encoder_attn_layer_norm"
            for block, (query, memory, out) in blocks.items():
                keys, values = separated(memory, shape.heads)
                for name, weight in zip("qkv", (query, keys, values), strict=True):
                    state[f"{new}.{block}.{name}_proj.weight"] = weight
                state[f"{new}.{block}.out_proj.weight"] = out
            for number in (1, 2):
                for kind in ("weight", "bias"):
                    state[f"{new}.fc{number}.{kind}"] = weights[f"{old}.ff.ff{number}.{kind}"]
        for old, new in norms.items():
            for kind in ("weight", "bias"):
                state[f"{new}.{kind}"] = weights[f"{old}.layer_norm.{kind}"]
    return state


class Generator:
    """`generate` of transformers."""

    def __init__(self, folder: Path, shape: Shape):
        self._model = load(folder, shape)

    def sample(self, samples: int) -> Callable[[list[Sentence]], int]:
        """Sample every constraint set in a call of its own: a call has one set of phrases."""

        def run(sentences: list[Sentence]) -> int:
            return sum(
                self._generate([sentence.source], samples, avoid, **_SAMPLING)
                for sentence in sentences
                for avoid in sentence.avoid
            )

        return run

    def sample_freely(self, samples: int) -> Callable[[list[Sentence]], int]:
        """Draw all samples of a sentence in one call, without constraints."""

        def run(sentences: list[Sentence]) -> int:
            return sum(
                self._generate([each.source], samples * len(each.avoid), [], **_SAMPLING)
                for each in sentences
            )

        return run

    def beam(self, beam_size: int, rows: int) -> Callable[[list[Sentence]], int]:
        """Translate by beam search, as many sentences at once as the rows allow."""

        def run(sentences: list[Sentence]) -> int:
            size = rows // beam_size
            return sum(
                self._generate(
                    [sentence.source for sentence in sentences[first : first + size]],
                    *(1, []),
                    num_beams=beam_size,
                )
                for first in range(0, len(sentences), size)
            )

        return run

    def _generate(
        self, sources: list[list[int]], number: int, avoid: list[tuple[int, ...]], **settings: int
    ) -> int:
        """Return the tokens of `number` outputs for each of equally long sources."""
        tokens = torch.tensor([[*source, EOS] for source in sources])
        if avoid:
            settings["bad_words_ids"] = [list(phrase) for phrase in avoid]
        with torch.inference_mode():
            outputs = self._model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                num_return_sequences=number,
                max_new_tokens=OUTPUT_TOKENS,
                **settings,
            )
        return outputs[:, 1:].numel()

    def score(self, pairs: list[tuple[list[int], list[int]]], rows: int) -> list[float]:
        """Return the NLL per token of equally long pairs, `rows` of them at once."""
        nlls = []
        for first in range(0, len(pairs), rows):
            batch = pairs[first : first + rows]
            labels = torch.tensor([[*target, EOS] for _, target in batch])
            with torch.inference_mode():
                logits = self._model(
                    input_ids=torch.tensor([[*source, EOS] for source, _ in batch]),
                    decoder_input_ids=torch.tensor([[BOS, *target] for _, target in batch]),
                ).logits
                losses = torch.nn.functional.cross_entropy(
                    logits.flatten(0, 1), labels.flatten(), reduction="none"
                )
            nlls += losses.view(labels.shape).mean(dim=1).tolist()
        return nlls


_SAMPLING = {"do_sample": True, "top_k": TOP_K}
