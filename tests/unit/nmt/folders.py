"""Model folders with random weights, written by Sockeye itself."""

import json
from pathlib import Path

import torch
from sockeye.data_io import DataConfig, DataStatistics
from sockeye.encoder import EmbeddingConfig
from sockeye.model import ModelConfig, SockeyeModel
from sockeye.transformer import TransformerConfig

from workflow_scripts.nmt.vocabulary import EOS, SYMBOLS


def write_model(
    folder: Path,
    *,
    layers: int = 1,
    size: int = 16,
    heads: int = 2,
    hidden: int = 32,
    vocabulary: int = 24,
    source_vocabulary: int | None = None,
    longest: int = 40,
    length_ratio: float = 1.5,
    end_bias: float = 0.0,
    symbol_bias: float = 0.0,
    weight_tying: str = "trg_softmax",
    seed: int = 1,
    **transformer: object,
) -> Path:
    """Write an untrained Sockeye 3 model; `transformer` overrides parts of its config.

    The source has as many pieces as the target, if it is not said how many.
    The pieces are `▁4`, `▁5` ... `end_bias` is the bias of </s>, which sets the output length,
    `symbol_bias` that of <pad>, <unk> and <s>, which Sockeye does not rule out.
    """
    torch.manual_seed(seed)
    folder.mkdir(parents=True)
    sizes = [source_vocabulary or vocabulary, vocabulary]
    statistics = DataStatistics(
        *(1, 0, 8, 8, 0, 0, 8, 8, vocabulary, vocabulary, length_ratio, 0.0),
        *([(longest, longest)], [1], [8.0]),
    )
    settings = {
        **{"model_size": size, "attention_heads": heads, "feed_forward_num_hidden": hidden},
        **{"act_type": "relu", "num_layers": layers, "dropout_attention": 0.1},
        **{"dropout_act": 0.1, "dropout_prepost": 0.1, "positional_embedding_type": "fixed"},
        **{"preprocess_sequence": "n", "postprocess_sequence": "dr"},
        **{"max_seq_len_source": longest, "max_seq_len_target": longest},
        "depth_key_value": size,
    }
    side = TransformerConfig(**(settings | transformer))
    config = ModelConfig(
        config_data=DataConfig(statistics, longest, longest, 1, 1),
        vocab_source_size=sizes[0],
        vocab_target_size=sizes[1],
        config_embed_source=EmbeddingConfig(sizes[0], size, 0.0),
        config_embed_target=EmbeddingConfig(sizes[1], size, 0.0),
        config_encoder=side,
        config_decoder=side,
        weight_tying_type=weight_tying,
    )
    model = SockeyeModel(config)
    for name, parameter in model.named_parameters():
        if not name.endswith("pos_embedding.weight"):
            scale = size**-0.5 if parameter.dim() > 1 else 0.1
            centre = 1.0 if name.endswith("layer_norm.weight") else 0.0
            torch.nn.init.normal_(parameter, centre, scale)
    with torch.no_grad():
        model.output_layer.bias[:EOS] += symbol_bias
        model.output_layer.bias[EOS] += end_bias
    model.eval()
    model.save_config(str(folder))
    model.save_parameters(str(folder / "params.best"))
    model.save_version(str(folder))
    pieces = [*SYMBOLS, *(f"▁{index}" for index in range(len(SYMBOLS), max(sizes)))]
    for name, count in zip(("vocab.src.0.json", "vocab.trg.0.json"), sizes, strict=True):
        entries = {piece: index for index, piece in enumerate(pieces[:count])}
        (folder / name).write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
    return folder
