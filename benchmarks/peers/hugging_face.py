"""Encoder-decoders of Hugging Face made here: of published shapes, or small and trained.

No weights of these families were within reach: those of published shapes are random, those of the
small copies are learnt from sentences of pieces without meaning.
"""

import random
from typing import Any, NamedTuple

import torch

from tests.unit.nmt.families import KINDS, MARIAN, SIZES, Kind, class_of, forced

# So many pieces every piece of a source may become; the first is the likelier one.
LIKELIER = 0.8
STEPS, BATCH, RATE, WARMUP = 800, 48, 2e-3, 100


# Sources, and a target of each.
Pairs = tuple[list[list[int]], list[list[int]]]


class Family(NamedTuple):
    """A published model, and its family's kind of sentences.

    `shape`: what its configuration has beside the flags of its kind, as public code quotes it; all
    else is the class's default.
    """

    kind: Kind
    vocabulary: int
    shape: dict[str, int]


def _shape(layers: int, positions: int = 1024) -> dict[str, int]:
    """Return keys of a configuration, 1,024 wide, with as many layers on both sides."""
    of_side = {"layers": layers, "attention_heads": 16, "ffn_dim": 4096}
    sides = {f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in of_side.items()}
    return {"d_model": 1024, "max_position_embeddings": positions} | sides


FAMILIES = {
    "nllb-200-distilled-600M": Family(KINDS["NLLB"], 256_206, _shape(12)),
    "m2m100_418M": Family(KINDS["M2M100"], 128_112, _shape(12)),
    "bart-large": Family(KINDS["BART"], 50_265, _shape(12)),
    "mbart-large-50": Family(KINDS["mBART-50"], 250_054, _shape(12)),
    "pegasus-xsum": Family(KINDS["PEGASUS"], 96_103, _shape(16, 512)),
    "opus-mt-tc-big": Family(MARIAN, 53_017, _shape(6)),
}
# Of the copies: 2 layers a side.
SMALL = {
    "d_model": 64,
    "max_position_embeddings": 128,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "init_std": 0.1,
}
SMALL_VOCABULARY = 80


def made(kind: Kind, shape: dict[str, Any]) -> Any:
    """Return a model as its class draws its weights; no bias is zero and no norm is one."""
    torch.manual_seed(1)
    config = class_of(kind).config_class(**SIZES | kind.changes | shape)
    model = class_of(kind)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += torch.randn_like(parameter) * config.init_std
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_(0, config.init_std)
    return model


class Language(NamedTuple):
    """What a small copy learns: each piece becomes one of two others."""

    words: list[int]
    first: dict[int, int]
    second: dict[int, int]

    @classmethod
    def of(cls, kind: Kind) -> "Language":
        """Return the language over the words of a kind."""
        words = [row for row, name in enumerate(kind.names) if "▁" in name]
        chance = random.Random(1)
        first, second = (chance.sample(words, len(words)) for _ in range(2))
        both = (dict(zip(words, side, strict=True)) for side in (first, second))
        return cls(words, *both)

    def pairs(self, count: int, length: int, chance: random.Random) -> Pairs:
        """Return so many sources of `length` pieces, and their targets."""
        sources = [chance.choices(self.words, k=length) for _ in range(count)]
        sides = (self.first, self.second)
        return sources, [
            [sides[chance.random() > LIKELIER][row] for row in source] for source in sources
        ]


def trained(kind: Kind) -> Any:
    """Return a small model of a kind that has learnt its language."""
    model = made(kind, SMALL).train()
    language, chance = Language.of(kind), random.Random(2)
    optimiser = torch.optim.Adam(model.parameters(), RATE, betas=(0.9, 0.98))
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / WARMUP) * max(0.02, 1 - step / STEPS)
    )
    for _ in range(STEPS):
        loss = forced(
            model, kind, *language.pairs(BATCH, chance.randint(3, 8), chance), loss=True
        ).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        rates.step()
        if kind.name == "Marian":
            # The decoder begins with zeros there, as in published files.
            with torch.no_grad():
                model.model.shared.weight[kind.prompt[-1]] = 0
    return model.eval()
