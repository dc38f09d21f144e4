"""A small Stanza package (tokenizer, tagger, parser) from gold trees, by Stanza's own trainers.

paraloom train parser --train T.mrg --dev D.mrg --output models/stanza

Stanza's trainers need more than trees. The tokenizer needs text with labels, the tagger CoNLL-U,
the parser a file of word vectors and CoreNLP's scorer. Text, labels and CoNLL-U are made of the
trees; the vectors are drawn, or read from a file; the scorer is `syntax.brackets`.
"""

import json
import logging
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from stanza.models import constituency_parser, tagger, tokenizer
from stanza.models.common.pretrain import Pretrain, PretrainedWordVocab
from stanza.models.common.vocab import VOCAB_PREFIX
from stanza.models.constituency import parser_training

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json, write_text
from workflow_scripts.core.files.regular_files import regular_file
from workflow_scripts.stages.syntax.brackets import bracketing
from workflow_scripts.stages.syntax.check import check
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.stages.syntax.treebank import (
    Sentence,
    bracketed,
    conllu,
    read_trees,
    sentence,
    written,
)
from workflow_scripts.stages.syntax.trees import parse

PACKAGE = "default"
# The name of each model; Stanza wants <language>_<treebank> while it trains.
NAME = "trees"
VECTOR_SIZE = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """How large the models are and how long they are trained.

    Attributes:
        size: hidden units of the parser; the tagger and the tokenizer get a fraction of it.
        tokenizer_steps: updates of 16 stretches of 100 characters.
        tagger_steps: updates of about 250 words each.
        epochs: of `epoch_trees` trees for the parser.
        epoch_trees: trees of one epoch.
        seed: of all three.
    """

    size: int = 128
    tokenizer_steps: int = 500
    tagger_steps: int = 1000
    epochs: int = 20
    epoch_trees: int = 2000
    seed: int = 1


class Scorer:
    """Stands in for `stanza.server.parser_eval.EvaluateParser`, which runs CoreNLP in Java."""

    def __init__(self, **_: Any):
        """Accept the original's options; there is no process to start."""

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is no process to stop."""

    def process(self, results: list[Any]) -> SimpleNamespace:
        """Score `ParseResult`s as Stanza's trainer reads the scores."""
        pairs = (
            (parse(str(result.gold)), parse(str(result.predictions[0].tree))) for result in results
        )
        return SimpleNamespace(f1=bracketing(pairs).f1, treeF1=[], HasField=lambda _: False)


@contextmanager
def own_scorer() -> Iterator[None]:
    """Let Stanza's trainer of parsers use `Scorer`; it has no option for that."""
    original = parser_training.EvaluateParser
    parser_training.EvaluateParser = Scorer
    try:
        yield
    finally:
        parser_training.EvaluateParser = original


def save_vectors(path: Path, sentences: list[Sentence], vectors: Path | None, seed: int) -> None:
    """Write word vectors in Stanza's format.

    Args:
        path: to write.
        sentences: whose words get vectors, the more frequent first.
        vectors: word2vec or GloVe as text; None: drawn ones of `VECTOR_SIZE`.
        seed: of the draw.
    """
    if vectors is not None:
        Pretrain(str(path), str(vectors), max_vocab=250_000).load()
        return
    counts = Counter(word for gold in sentences for word, _ in gold.tags)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    pretrain = Pretrain(str(path))
    pretrain._vocab = PretrainedWordVocab(words)
    random = torch.Generator().manual_seed(seed)
    shape = (len(VOCAB_PREFIX) + len(words), VECTOR_SIZE)
    pretrain._emb = 0.3 * torch.randn(shape, generator=random)
    pretrain.save(str(path))


def write_inputs(name: str, sentences: list[Sentence]) -> None:
    """Write the trainers' input files of one side, train or dev, into the working directory."""
    texts, labels = zip(*map(written, sentences), strict=True)
    write_text(Path(f"{name}.txt"), "".join(f"{text}\n\n" for text in texts))
    write_text(Path(f"{name}.labels"), "".join(f"{digits}\n\n" for digits in labels))
    write_text(Path(f"{name}.conllu"), "".join(map(conllu, sentences)))
    trees = "".join(f"(ROOT {bracketed(gold.tree)})\n" for gold in sentences)
    write_text(Path(f"{name}.mrg"), trees)


def train_models(language: str, settings: Settings) -> None:
    """Train the three models on `write_inputs`' files, all in the working directory.

    Only relative paths are used: Stanza writes its arguments into the models.
    """
    common = (
        f"--lang {language} --shorthand {language}_{NAME} --save_dir . --seed {settings.seed} "
        "--device cpu"
    )
    write_text(Path("words.json"), "[]")  # no multi-word tokens
    steps = settings.tokenizer_steps
    tokenizer.main(
        f"{common} --save_name tokenize.pt --mwt_json_file words.json "
        "--txt_file train.txt --label_file train.labels "
        "--dev_txt_file dev.txt --dev_label_file dev.labels "
        "--emb_dim 16 --hidden_dim 32 --batch_size 16 --lr0 0.01 "
        # Our parser gets single sentences, so scores of sentence ends decide nothing.
        f"--steps {steps} --eval_steps {steps + 1}".split()
    )
    steps = settings.tagger_steps
    tagger.main(
        f"{common} --save_name pos.pt --wordvec_pretrain_file pretrain.pt "
        "--train_file train.conllu --eval_file dev.conllu "
        "--hidden_dim 48 --num_layers 1 --deep_biaff_hidden_dim 48 --transformed_dim 16 "
        "--tag_emb_dim 4 --word_emb_dim 24 --word_cutoff 1 --char_emb_dim 16 --char_hidden_dim 32 "
        "--dropout 0.2 --word_dropout 0.1 --lr 0.01 --batch_size 30 "
        f"--max_steps {steps} --eval_interval {max(1, steps // 5)} --fix_eval_interval".split()
    )
    with own_scorer():
        constituency_parser.main(
            f"{common} --save_name constituency.pt --wordvec_pretrain_file pretrain.pt "
            "--train_file train.mrg --eval_file dev.mrg --train_batch_size 20 "
            # The tags of the trees are those that our tagger gives, as UPOS.
            "--no_retag --retag_method upos --no_checkpoint "
            f"--hidden_size {settings.size} --num_lstm_layers 1 --tag_embedding_dim 16 "
            "--delta_embedding_dim 16 --transition_embedding_dim 16 --transition_hidden_size 16 "
            f"--epochs {settings.epochs} --epoch_size {settings.epoch_trees} "
            "--no_multistage --optim adamw --learning_rate 0.003".split()
        )


def index(language: str) -> dict[str, Any]:
    """Return resources.json of a folder with one package."""
    needs_vectors = {"dependencies": [{"model": "pretrain", "package": NAME}]}
    return {
        language: {
            "tokenize": {NAME: {}},
            "pos": {NAME: needs_vectors},
            "constituency": {NAME: needs_vectors},
            "pretrain": {NAME: {}},
            "packages": {PACKAGE: dict.fromkeys(("tokenize", "pos", "constituency"), NAME)},
        }
    }


def build(
    train: list[Sentence],
    dev: list[Sentence],
    output: Path,
    language: str,
    settings: Settings,
    vectors: Path | None = None,
) -> None:
    """Train a package and write its folder, which appears whole or not at all.

    Raises:
        InputError: the folder is already there, there are no trees, or no file of vectors.
    """
    if output.exists():
        raise InputError(f"{output} is there already; name another folder or remove it")
    if not train or not dev:
        raise InputError("there are no trees to train on, or none to choose the best model by")
    vectors = vectors and regular_file(vectors).resolve()
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as work:
        with chdir(work):
            write_inputs("train", train)
            write_inputs("dev", dev)
            save_vectors(Path("pretrain.pt"), train, vectors, settings.seed)
            train_models(language, settings)
        folder = Path(work) / "package"
        for processor in ("tokenize", "pos", "constituency", "pretrain"):
            path = folder / language / processor / f"{NAME}.pt"
            path.parent.mkdir(parents=True)
            shutil.move(Path(work) / f"{processor}.pt", path)
        write_json(folder / "resources.json", index(language))
        folder.rename(output)


def main(argv: list[str] | None = None) -> None:
    """Train a small Stanza package from gold trees and print its scores on the others."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--train", type=Path, nargs="+", required=True, help="files of trees")
    parser.add_argument("--dev", type=Path, nargs="+", required=True, help="files of other trees")
    parser.add_argument("--output", type=Path, required=True, help="the folder to make")
    parser.add_argument("--language", default="en", help="code of the language (en)")
    parser.add_argument("--vectors", type=Path, help="word vectors as text; none: drawn")
    for field in fields(Settings):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=int, default=field.default, help=f"({field.default})")
    arguments = parser.parse_args(argv)
    train, dev = (
        [sentence(tree) for tree in read_trees(paths)] for paths in (arguments.train, arguments.dev)
    )
    settings = Settings(
        **{field.name: getattr(arguments, field.name) for field in fields(Settings)}
    )
    logging.getLogger("stanza").setLevel(logging.INFO)
    build(train, dev, arguments.output, arguments.language, settings, arguments.vectors)
    print(json.dumps(check(dev, Parser(arguments.output, arguments.language, PACKAGE, "cpu"))))


if __name__ == "__main__":
    run(main)
