"""Runs under Python 3.8 with Sockeye 2.3.24: translates the lines that come in on stdin.

Arguments: weights (.npz) by the names of Sockeye 2, a folder with the vocabularies, the shape as
JSON. A line in is `{"beam_size": N, "lines": [...]}`, the lines in Sockeye's JSON form; a line
out has the CPU seconds and the outputs.
"""

import json
import logging
import os
import sys
import time
from pathlib import Path

import mxnet as mx
import numpy as np
from sockeye.beam_search import CandidateScorer
from sockeye.data_io import DataConfig, DataStatistics
from sockeye.encoder import EmbeddingConfig
from sockeye.inference import Translator, make_input_from_dict
from sockeye.model import ModelConfig, SockeyeModel
from sockeye.transformer import TransformerConfig
from sockeye.vocab import vocab_from_json


def build(weights, shape):
    """Return a SockeyeModel with the given weights."""
    size, vocabulary = shape["size"], shape["vocabulary"]
    longest = len(weights["decoder.pos_embedding.weight"])
    statistics = DataStatistics(
        *(1, 0, 8, 8, 0, 0, 8, 8, vocabulary, vocabulary, 1.0, 0.0),
        *([(longest, longest)], [1], [8.0], [(1.0, 0.0)]),
    )
    side = TransformerConfig(
        model_size=size,
        attention_heads=shape["heads"],
        feed_forward_num_hidden=shape["hidden"],
        act_type="relu",
        num_layers=shape["layers"],
        dropout_attention=0.0,
        dropout_act=0.0,
        dropout_prepost=0.0,
        positional_embedding_type="fixed",
        preprocess_sequence="n",
        postprocess_sequence="dr",
        max_seq_len_source=longest,
        max_seq_len_target=longest,
        depth_key_value=size,
    )
    config = ModelConfig(
        config_data=DataConfig(statistics, longest, longest, 1, 1),
        vocab_source_size=vocabulary,
        vocab_target_size=vocabulary,
        config_embed_source=EmbeddingConfig(vocabulary, size, 0.0),
        config_embed_target=EmbeddingConfig(vocabulary, size, 0.0),
        config_encoder=side,
        config_decoder=side,
        weight_tying_type="trg_softmax",
    )
    model = SockeyeModel(config, inference_only=True)
    model.initialize(ctx=mx.cpu())
    parameters = model._collect_params_with_prefix()
    # The blocks that use them hold the same parameters.
    for alias in ("source_embed_weight", "target_embed_weight", "output_weight"):
        del parameters[alias]
    missing = set(parameters) - set(weights)
    if missing:
        raise SystemExit("no weights for " + ", ".join(sorted(missing)))
    for name, parameter in parameters.items():
        parameter.shape = weights[name].shape
        parameter.set_data(mx.nd.array(weights[name]))
    model.hybridize(static_alloc=True)
    return model


def main():
    """Answer every line of stdin."""
    logging.disable(logging.WARNING)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print must not get among the answers
    model = build(dict(np.load(sys.argv[1])), json.loads(sys.argv[3]))
    folder = Path(sys.argv[2])
    vocabs = [[vocab_from_json(str(folder / f"vocab.{side}.0.json"))] for side in ("src", "trg")]
    for line in sys.stdin:
        task = json.loads(line)
        translator = Translator(
            context=mx.cpu(),
            ensemble_mode="linear",
            scorer=CandidateScorer(1.0, 0.0, 0.0),
            batch_size=len(task["lines"]),
            beam_search_stop="all",
            models=[model],
            source_vocabs=vocabs[0],
            target_vocabs=vocabs[1],
            beam_size=task["beam_size"],
            output_scores=True,
        )
        inputs = [
            make_input_from_dict(str(n), fields, translator)
            for n, fields in enumerate(task["lines"])
        ]
        start = time.process_time()
        results = translator.translate(inputs)
        seconds = time.process_time() - start
        outputs = [
            {"translation": result.translation, "score": float(result.score)} for result in results
        ]
        print(json.dumps({"seconds": seconds, "outputs": outputs}), file=answers, flush=True)


if __name__ == "__main__":
    main()
