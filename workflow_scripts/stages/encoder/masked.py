"""Train a masked language model from scratch on the references of the bitext (Devlin et al. 2018).

It sees sentences one by one and no pair of them, so it knows no paraphrases: what an encoder learns
from them can be told by the difference to this one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import sha256, shard_paths, verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.training.loop import CHECKPOINT_SECONDS
from workflow_scripts.encoding.encoder_tokens import Tokens, tokenised
from workflow_scripts.encoding.model_outputs import Items, computed_in, in_batches
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.encoder.finished_encoder import (
    CHECKPOINT,
    publish,
)
from workflow_scripts.stages.encoder.scratch_vocabulary import tokenizer_of
from workflow_scripts.stages.encoder.tasks.reported import files as task_files
from workflow_scripts.stages.encoder.tasks.reported import tested_on
from workflow_scripts.stages.encoder.training import Fitting

# Why a reference is left out; what is held out is read, but not trained on.
DUPLICATE, IN_EVALUATION, HELD_OUT = "duplicate", "in_evaluation", "held_out"
# Of the tokens that are asked for these shares are hidden, or exchanged for any other; the rest
# stays as it is (Devlin et al. 2018, 3.1).
_HIDDEN, _EXCHANGED = 0.8, 0.1
# What the loss passes over.
_NOT_ASKED = -100


class Sentences(NamedTuple):
    """The references of a bitext, each once."""

    train: list[str]
    held_out: list[str]


def split(
    references: Iterable[str], barred: set[int], share: float, seed: int, rejected: Counter[str]
) -> Sentences:
    """Return the sentences to train on, and those that measure the model.

    Args:
        references: of the bitext.
        barred: keys of the sentences that the run tests on.
        share: of the sentences that are held out, each drawn by its own text.
        seed: of the draw.
        rejected: counts the references that are not trained on, by reason.
    """
    sentences = Sentences([], [])
    seen: set[int] = set()
    for text in references:
        number = key(text)
        if number in barred:
            rejected[IN_EVALUATION] += 1
        elif number in seen:
            rejected[DUPLICATE] += 1
        elif fraction(seed, "encoder", "held_out", number) < share:
            rejected[HELD_OUT] += 1
            sentences.held_out.append(text)
        else:
            sentences.train.append(text)
        seen.add(number)
    return sentences


class Masks:
    """Sentences in which some tokens are hidden, another choice in each epoch."""

    def __init__(self, tokens: Tokens, tokenizer: Any, share: float, seed: int, purpose: str):
        """Prepare to hide a `share` of the tokens, but none that the tokenizer adds."""
        self._tokens, self._share, self._seed, self._purpose = tokens, share, seed, purpose
        self._special = np.array(tokenizer.all_special_ids)
        self._mask, self._size = tokenizer.mask_token_id, len(tokenizer)

    def __call__(self, items: Items, epoch: int) -> dict[str, Tensor]:
        """Return what the model is called with, and `labels`: the ids that are asked for."""
        batch = self._tokens.batch(items)
        ids = batch["input_ids"].numpy()
        labels = np.full_like(ids, _NOT_ASKED)
        own = batch["attention_mask"].numpy().astype(bool) & ~np.isin(ids, self._special)
        for row, item in enumerate(items):
            random = generator(self._seed, "encoder", self._purpose, epoch, int(item))
            places = np.flatnonzero(own[row])
            if not len(places):
                continue
            wanted = max(1, round(self._share * len(places)))
            chosen = random.permutation(places)[:wanted]
            labels[row, chosen] = ids[row, chosen]
            ids[row, chosen] = self._shown(ids[row, chosen], random)
        return batch | {"labels": torch.from_numpy(labels)}

    def _shown(self, ids: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """Return what stands in place of tokens that are asked for."""
        draws = random.random(len(ids))
        others = random.integers(len(self._special), self._size, len(ids))
        shown = np.where(draws < _HIDDEN, self._mask, ids)
        return np.where((draws >= _HIDDEN) & (draws < _HIDDEN + _EXCHANGED), others, shown)


def masked_losses(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Return the cross-entropy of each token that is asked for, in nats, shape (asked,).

    The output layer, as wide as the vocabulary, sees these tokens alone.
    """
    labels = batch["labels"]
    asked = labels != _NOT_ASKED
    states = model.bert(**{name: value for name, value in batch.items() if name != "labels"})
    logits = model.cls(states.last_hidden_state[asked])
    return functional.cross_entropy(logits.float(), labels[asked], reduction="none")


def masked_loss(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Return the mean of `masked_losses`; 0 if no token is asked for, since all are unknown."""
    losses = masked_losses(model, batch)
    return losses.mean() if len(losses) else losses.sum()


def untrained(settings: dict[str, Any], tokenizer: Any, seed: int) -> Any:
    """Return a BERT with random weights.

    Args:
        settings: `layers`, `hidden`, `heads`, `feed_forward`, `dropout`, `max_tokens`.
        tokenizer: whose vocabulary it has.
        seed: of the weights.
    """
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(int(generator(seed, "encoder", "weights").integers(2**63)))
    return BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=settings["hidden"],
            num_hidden_layers=settings["layers"],
            num_attention_heads=settings["heads"],
            intermediate_size=settings["feed_forward"],
            hidden_dropout_prob=settings["dropout"],
            attention_probs_dropout_prob=settings["dropout"],
            max_position_embeddings=settings["max_tokens"],
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def _references(paths: list[Path]) -> Iterator[str]:
    rows = sum(verify(path)["rows_out"] for path in paths)
    pairs = (row for path in paths for row in read_rows(path, PairRow, ["reference"]))
    for row in progress(pairs, rows, "encoder: references"):
        yield row["reference"]


def read_sentences(
    config: dict[str, Any], paths: list[Path], evaluation: Path, rejected: Counter[str]
) -> Sentences:
    """Return the references of a bitext, without those that the run tests on.

    Args:
        config: as `train_masked`.
        paths: shards of the bitext.
        evaluation: the STS data that the run tests on.
        rejected: counts the references that are not trained on, by reason.

    Raises:
        InputError: there is nothing to train on, or to measure the model on.
    """
    share = config["scratch"]["held_out"]
    barred = tested_on(evaluation, config.get("tasks", {}))
    sentences = split(_references(paths), barred, share, config["seed"], rejected)
    if not sentences.train or not sentences.held_out:
        raise InputError(
            f"scratch.held_out is {share}: of the references "
            f"{len(sentences.train)} are trained on and {len(sentences.held_out)} held out; "
            "change it, or add to run.corpora"
        )
    return sentences


def trained(
    sentences: Sentences, plan: dict[str, Any], checkpoint: Path, every: float
) -> tuple[Any, Any, dict[str, Any]]:
    """Bring the training to its end, from wherever it stands.

    Args:
        sentences: to train on, and to measure the model on.
        plan: all that the training follows from; its `config` and `device` say how.
        checkpoint: outlives kills.
        every: seconds between two checkpoints.

    Returns:
        The model, its tokenizer, and metrics.json.
    """
    settings, seed, device = plan["config"]["scratch"], plan["config"]["seed"], plan["device"]
    tokenizer = tokenizer_of(sentences.train, settings["vocab_size"], settings["lowercase"])
    model = untrained(settings, tokenizer, seed)
    most, training = settings["max_tokens"], settings["training"]
    tokens = tokenised(tokenizer, sentences.train, None, most)
    masks = Masks(tokens, tokenizer, settings["masked"], seed, "masks")
    held_out = tokenised(tokenizer, sentences.held_out, None, most)
    asked = Masks(held_out, tokenizer, settings["masked"], seed, "asked")

    def measure() -> dict[str, float]:
        return {"perplexity": perplexity(model, asked, held_out, training, device)}

    fitting = Fitting(
        model,
        masks,
        tokens.lengths,
        training,
        lambda *keys: generator(seed, "encoder", "scratch", *keys),
        device,
        loss=masked_loss,
        measure=measure,
        plan=plan,
        desc="encoder: masked language model",
    )
    fitting.run(checkpoint, every)
    metrics = {
        "weights": sum(weights.numel() for weights in model.parameters()),
        "vocabulary": len(tokenizer),
        "sentences": len(sentences.train),
        "tokens": int(tokens.lengths.sum()),
        "held_out": len(sentences.held_out),
        "updates": fitting.updates,
        "perplexity": fitting.history[-1]["perplexity"],
        "history": fitting.history,
    }
    return model, tokenizer, metrics


def perplexity(
    model: Any, asked: Masks, tokens: Tokens, settings: dict[str, Any], device: str
) -> float:
    """Return the perplexity of the tokens that are asked for, always the same ones.

    Args:
        model: in evaluation mode.
        asked: hides them.
        tokens: the sentences.
        settings: `batch` and `precision`.
        device: for torch.

    Raises:
        InputError: the training diverged, or no token is asked for.
    """
    total, count, where = 0.0, 0, torch.device(device)
    for items in in_batches(np.arange(len(tokens.lengths)), tokens.lengths, settings["batch"]):
        batch = {name: value.to(where) for name, value in asked(items, 0).items()}
        with torch.inference_mode(), computed_in(settings["precision"], where):
            losses = masked_losses(model, batch)
        total, count = total + float(losses.double().sum()), count + len(losses)
    if not count:
        raise InputError(
            "encoder: all tokens of the held-out sentences are unknown; raise scratch.held_out, or "
            "add to run.corpora"
        )
    with np.errstate(over="ignore"):
        found = float(np.exp(total / count))
    if not np.isfinite(found):
        raise InputError(
            f"encoder: a mean loss of {total / count:.0f} on held-out sentences; the training "
            "diverged, lower training.learning_rate"
        )
    return found


def train_masked(
    config: dict[str, Any],
    folder: Path,
    shards: int,
    evaluation: Path,
    work: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    device: Device = "auto",
    threads: int = 1,
) -> None:
    """Train a masked language model on the references of a bitext.

    Args:
        config: `scratch`, the block with all its keys, `training` in it too; `seed`; and `tasks`,
            folders by name, if the encoder is tested on tasks.
        folder: with shards of pairs.
        evaluation: the STS data that the run tests on (Parquet).

    Raises:
        InputError: a file is damaged or changed; or see `read_sentences`.
    """
    torch.set_num_threads(threads)
    where = str(choose_device(device))
    paths, rejected = shard_paths(folder, shards), Counter[str]()
    with unchanged(inputs or {}):
        sentences = read_sentences(config, paths, evaluation, rejected)
        read = [*paths, evaluation, *task_files(config.get("tasks", {}))]
        files = {str(path): sha256(path) for path in read}
        plan = {"config": config, "files": files, "device": where}
        with locked(work):
            model_and_metrics = trained(sentences, plan, work / CHECKPOINT, checkpoint_seconds)
            rows = len(sentences.train) + sum(rejected.values())
            publish(*model_and_metrics, (rows, dict(rejected)), work, output)


main = command(train_masked, __name__)
