"""Training and inference of WORD on one core, beside sentence-transformers on the same model.

    python benchmarks/bench_embed.py [--dimension 300] [--sentences 50000]

Training: pairs per CPU-second, for mega-batches of 1 and 6 mini-batches of 100 on 600 pairs, and of
40 on 20,000 pairs. The authors' published PyTorch code does 147, 58 and about 30. Inference:
sentences per CPU-second, tokenisation included. The sentences are simulated, about 11 words each.
"""

import argparse
import json
import logging
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from workflow_scripts.encoding.embedding import load, save
from workflow_scripts.encoding.parts import Parts
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.embed.initial import initial_model
from workflow_scripts.stages.embed.prepared import prepare, read_prepared
from workflow_scripts.stages.embed.training import Seeds, Training

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")
# (pairs, mini-batches in a mega-batch, epochs, pairs per CPU-second of the authors' code)
RUNS = ((600, 1, 40, 147), (600, 6, 40, 58), (20_000, 40, 1, 30))
VOCABULARY = 20_000


def sentences(count: int, random: np.random.Generator) -> list[str]:
    """Return sentences of 4 to 18 words whose frequencies follow Zipf's law."""
    lengths = random.integers(4, 19, size=count)
    ranks = random.zipf(1.3, size=int(lengths.sum())) % VOCABULARY
    words = iter(ranks.tolist())
    return [" ".join(f"w{next(words)}" for _ in range(n)).capitalize() + "." for n in lengths]


def paraphrased(sentence: str, random: np.random.Generator) -> str:
    """Replace about a third of the words."""
    words = sentence.split()
    other = random.integers(VOCABULARY, size=len(words))
    kept = random.random(len(words)) < 0.67
    return " ".join(w if k else f"w{o}" for w, k, o in zip(words, kept, other, strict=True))


def model_of(texts: list[str], dimension: int) -> Parts:
    """Return an untrained WORD model."""
    return initial_model(MODEL | {"dimension": dimension}, lambda: texts, 1, 1)


def pairs_per_second(
    pairs: list[tuple[str, str]], mega_batch: int, epochs: int, size: int
) -> float:
    """Return how many pairs a CPU-second trains on."""
    built = model_of([text for pair in pairs for text in pair], size)
    with tempfile.TemporaryDirectory() as folder:
        prepare(pairs, built.tokenisers, Path(folder))
        data = read_prepared(Path(folder), built.tokenisers)
        settings = TRAINING | {"mega_batch": mega_batch, "anneal": None, "epochs": epochs}
        training = Training(built, data, settings, Seeds(1, 1))
        start = time.process_time()
        training.run()
        return epochs * len(pairs) / (time.process_time() - start)


def sentences_per_second(texts: list[str], dimension: int) -> dict[str, float]:
    """Return how many sentences a CPU-second encodes, by us and by sentence-transformers."""
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder), model_of(texts, dimension))
        library = SentenceTransformer(folder, device="cpu", local_files_only=True)
        encoders = {"paraloom": load(folder).encode, "sentence_transformers": library.encode}
        rates = {}
        for name, encode in encoders.items():
            start = time.process_time()
            encode(texts)
            rates[name] = len(texts) / (time.process_time() - start)
    return rates


def main() -> None:
    """Print training and inference speed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--dimension", type=int, default=300)
    parser.add_argument("--sentences", type=int, default=50_000)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    random = np.random.default_rng(1)
    training = {}
    for count, mega_batch, epochs, authors in RUNS:
        texts = sentences(count, random)
        pairs = [(text, paraphrased(text, random)) for text in texts]
        rate = pairs_per_second(pairs, mega_batch, epochs, arguments.dimension)
        training[f"{count} pairs, mega-batch {mega_batch}"] = {
            "pairs_per_cpu_second": round(rate),
            "times_the_authors": round(rate / authors, 1),
        }
    rates = sentences_per_second(sentences(arguments.sentences, random), arguments.dimension)
    inference = {name: round(rate) for name, rate in rates.items()}
    ratio = round(rates["paraloom"] / rates["sentence_transformers"], 1)
    print(
        json.dumps(
            {
                "training": training,
                "sentences_per_cpu_second": {**inference, "ratio": ratio},
                **vars(arguments),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
