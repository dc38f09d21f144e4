from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tables import pair, write_table
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.subword.train import train_model

NOUNS = ["kočka", "pes", "dům", "žena", "stroj", "učitel", "kniha", "řeka"]
ENDINGS = ["", "mi", "ti", "nka", "ovi", "ech"]
VERBS = ["vidí", "hledá", "maluje", "kupuje", "nese", "prodává"]


def sentences(count: int) -> list[str]:
    random = np.random.default_rng(1)
    return [
        f"{random.choice(NOUNS)}{random.choice(ENDINGS)} {random.choice(VERBS)} "
        f"{random.choice(NOUNS)}{random.choice(ENDINGS)} "
        f"{random.integers(10, 10000)}."
        for _ in range(count)
    ]


@pytest.fixture(scope="session")
def train_config() -> dict[str, Any]:
    return {
        **{"side": "source", "model_type": "unigram", "vocab_size": 50, "coverage": 0.9999},
        **{"split_digits": True, "sentences": 10_000, "corpora": ["a", "b"], "seed": 1},
    }


@pytest.fixture(scope="session")
def segmenter(tmp_path_factory: pytest.TempPathFactory, train_config) -> Segmenter:
    path = tmp_path_factory.mktemp("subword") / "toy.model"
    path.write_bytes(train_model(sentences(300), train_config))
    return Segmenter(path)


def write_pairs(folder: Path, rows: list[dict[str, Any]], shards: int = 2) -> list[Path]:
    paths = [folder / f"{shard:04d}.parquet" for shard in range(shards)]
    for shard, path in enumerate(paths):
        write_table(path, PairRow, rows[shard::shards])
    return paths


@pytest.fixture
def pair_rows() -> list[dict[str, Any]]:
    corpora = ["a", "b", "dev", "test", "other"]
    texts = sentences(300)
    return [
        pair(f"{corpora[index % 5]}:{index}", text, text.upper())
        for index, text in enumerate(texts)
    ]
