"""What a task asks of an encoder: its output layer, what is learnt, what is answered, measures."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding.encoder_tokens import tokenised
from workflow_scripts.encoding.model_outputs import Inputs, outputs
from workflow_scripts.encoding.pretrained import longest, open_model, open_tokenizer
from workflow_scripts.stages.encoder.tasks import spans, squad
from workflow_scripts.stages.encoder.tasks.examples import E, Pair, Question, TaskData
from workflow_scripts.stages.encoder.tasks.glue import ENTAILMENT, PARAPHRASE, read_pairs
from workflow_scripts.stages.encoder.tasks.glue_measures import measured

# What is known of each tested example, by name: lists of one length.
Rows = dict[str, list[Any]]


class Prepared(Protocol):
    """Examples as a model reads them."""

    inputs: Inputs
    lengths: NDArray[np.int64]


class Task(Protocol, Generic[E]):
    """What `tuning` needs of a task."""

    name: str
    main: str  # the measure that a learning rate is chosen by

    def read(self, folder: Path) -> TaskData[E]:
        """Return the data in a folder."""

    def open(self, folder: Path, seed: int) -> nn.Module:
        """Return an encoder with a new output layer."""

    def prepare(self, folder: Path, model: nn.Module, examples: Sequence[E]) -> Prepared:
        """Return examples as the model reads them, with what is to be learnt."""

    def loss(self, model: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
        """Return the loss of a batch."""

    def answer(
        self, model: nn.Module, examples: Sequence[E], prepared: Prepared, device: str
    ) -> Rows:
        """Return gold answers and those of the model, example by example."""

    def scored(self, rows: Rows) -> Rows:
        """Return what measures are computed from, given the answers to all of a part."""

    def figures(self, rows: dict[str, Any]) -> dict[str, float]:
        """Return the measures of scored rows."""


def with_new_layer(head: Any, folder: Path, seed: int, **options: Any) -> nn.Module:
    """Return an encoder with a new output layer in place of the one that it may have.

    Args:
        head: class of transformers, e.g. AutoModelForSequenceClassification.
        folder: of the encoder.
        seed: of the new weights.
        options: of its configuration, e.g. `num_labels`.

    Raises:
        InputError: the folder holds no encoder, or one without some of its weights.
    """
    from transformers import AutoModel

    body = open_model(AutoModel, folder, seed)
    config = body.config
    for name, value in options.items():
        setattr(config, name, value)
    torch.manual_seed(seed)
    model = head.from_config(config, dtype=torch.float32)
    keys = model.base_model.load_state_dict(body.state_dict(), strict=False)
    unexpected = [name for name in keys.unexpected_keys if not name.startswith("pooler.")]
    if keys.missing_keys or unexpected:
        raise InputError(
            f"{folder}: its weights are not those of {head.__name__}, first "
            f"{[*keys.missing_keys, *unexpected][0]}; name another encoder"
        )
    return model.eval()


class _Examples:
    """Examples as a model reads them, with what is to be learnt of each beside its tokens."""

    def __init__(
        self,
        batch: Callable[[NDArray[np.int64]], dict[str, Tensor]],
        lengths: NDArray[np.int64],
        wanted: dict[str, Tensor],
    ):
        self._batch, self._wanted, self.lengths = batch, wanted, lengths

    def inputs(self, items: NDArray[np.int64], _: int) -> dict[str, Tensor]:
        """Return what a batch is learnt from."""
        chosen = torch.from_numpy(items)
        return self._batch(items) | {name: values[chosen] for name, values in self._wanted.items()}

    def texts(self, items: NDArray[np.int64], _: int) -> dict[str, Tensor]:
        """Return what the model is called with."""
        return self._batch(items)


class PairTask:
    """A task on pairs of sentences: classes, or a score (Devlin et al. 2018, 4.1).

    The first token, [CLS], goes through one new layer: to the logits of the classes, learnt by
    cross-entropy, or to the score, learnt by mean squared error.
    """

    def __init__(
        self,
        name: str,
        labels: tuple[str, ...],
        measures: tuple[str, ...],
        settings: dict[str, Any],
    ):
        """Describe the task.

        Args:
            name: of it.
            labels: of its classes; none: it has scores.
            measures: of `glue_measures.MEASURES`, the main one first.
            settings: of `encoder_tasks`.
        """
        self.name, self._labels, self._measures = name, labels, measures
        self.main, self._settings = measures[0], settings

    def read(self, folder: Path) -> TaskData[Pair]:
        """Return the data in a folder."""
        return read_pairs(self.name, folder)

    def open(self, folder: Path, seed: int) -> nn.Module:
        """Return an encoder with a new output layer."""
        from transformers import AutoModelForSequenceClassification

        outputs = len(self._labels) or 1
        return with_new_layer(AutoModelForSequenceClassification, folder, seed, num_labels=outputs)

    def prepare(self, folder: Path, model: nn.Module, examples: Sequence[Pair]) -> _Examples:
        """Return examples as the model reads them, with what is to be learnt."""
        tokens = tokenised(
            open_tokenizer(folder),
            [pair.first for pair in examples],
            [pair.second for pair in examples],
            longest(model, self._settings["length"]),
        )
        gold = torch.tensor([pair.gold for pair in examples], dtype=torch.float32)
        wanted = gold.long() if self._labels else gold
        return _Examples(tokens.batch, tokens.lengths, {"wanted": wanted})

    def loss(self, model: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
        """Return the loss of a batch."""
        wanted = inputs["wanted"]
        texts = {name: values for name, values in inputs.items() if name != "wanted"}
        logits = model(**texts).logits.float()
        if self._labels:
            return functional.cross_entropy(logits, wanted)
        return functional.mse_loss(logits[:, 0], wanted)

    def answer(
        self, model: nn.Module, examples: Sequence[Pair], prepared: _Examples, device: str
    ) -> Rows:
        """Return gold answers and those of the model, example by example."""
        predicted = np.zeros(len(examples))
        for items, answer in outputs(
            model, prepared.texts, prepared.lengths, self._settings, device
        ):
            logits = answer.logits.float().cpu().numpy()
            predicted[items] = logits.argmax(axis=1) if self._labels else logits[:, 0]
        return {"gold": [pair.gold for pair in examples], "predicted": predicted.tolist()}

    def scored(self, rows: Rows) -> Rows:
        """Return what measures are computed from, given the answers to all of a part."""
        return rows

    def figures(self, rows: dict[str, Any]) -> dict[str, float]:
        """Return the measures of scored rows."""
        return measured(rows, self._measures)


class SpanTask:
    """SQuAD 2.0: the span of a passage that answers a question, or no answer (Devlin et al., 4.3).

    One new layer gives each token two scores, as the first and as the last of the answer; each is
    learnt by cross-entropy over the tokens of a window.
    """

    name = "SQuAD"
    main = "f1_Total"

    def __init__(self, settings: dict[str, Any]):
        """Describe the task; `settings` are those of `encoder_tasks`."""
        self._settings = settings

    def read(self, folder: Path) -> TaskData[Question]:
        """Return the data in a folder."""
        return squad.read_squad(folder)

    def open(self, folder: Path, seed: int) -> nn.Module:
        """Return an encoder with a new output layer."""
        from transformers import AutoModelForQuestionAnswering

        return with_new_layer(AutoModelForQuestionAnswering, folder, seed, num_labels=2)

    def prepare(self, folder: Path, model: nn.Module, examples: Sequence[Question]) -> "_Windows":
        """Return examples as the model reads them, with what is to be learnt."""
        return _Windows(open_tokenizer(folder), model, examples, self._settings)

    def loss(self, model: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
        """Return the loss of a batch."""
        wanted = inputs["wanted"]
        answer = model(**{name: values for name, values in inputs.items() if name != "wanted"})
        starts = functional.cross_entropy(answer.start_logits.float(), wanted[:, 0])
        return (starts + functional.cross_entropy(answer.end_logits.float(), wanted[:, 1])) / 2

    def answer(
        self, model: nn.Module, examples: Sequence[Question], prepared: "_Windows", device: str
    ) -> Rows:
        """Return the questions' ids, gold answers, and the model's, example by example."""
        best: list[spans.Span | None] = [None] * len(prepared.windows)
        for items, answer in outputs(
            model, prepared.texts, prepared.lengths, self._settings, device
        ):
            starts, ends = (
                logits.double().cpu().numpy() for logits in (answer.start_logits, answer.end_logits)
            )
            for row, item in enumerate(items):
                best[item] = spans.best_span(prepared.windows[item], starts[row], ends[row])
        texts, no_answer = spans.answers(examples, list(zip(prepared.windows, best, strict=True)))
        raw = squad.raw_scores(examples, texts)
        return {
            "id": [question.number for question in examples],
            "answer": texts,
            "no_answer": no_answer.tolist(),
            **{name: values.tolist() for name, values in raw._asdict().items()},
        }

    def scored(self, rows: Rows) -> Rows:
        """Return the scores with the threshold that is best for F1 in all of a part."""
        raw = squad.Scores(*(np.array(rows[name]) for name in squad.Scores._fields))
        no_answer = np.array(rows["no_answer"])
        _, threshold = squad.best_threshold(raw.f1, raw.has_answer, rows["answer"], no_answer)
        scores = squad.with_threshold(raw, no_answer, threshold)
        return {name: values.tolist() for name, values in scores._asdict().items()}

    def figures(self, rows: dict[str, Any]) -> dict[str, float]:
        """Return the measures of scored rows."""
        return squad.figures(
            squad.Scores(*(np.asarray(rows[name]) for name in squad.Scores._fields))
        )


class _Windows:
    """The windows of questions as a model reads them, with what is to be learnt of each."""

    def __init__(
        self,
        tokenizer: Any,
        model: nn.Module,
        questions: Sequence[Question],
        settings: dict[str, Any],
    ):
        most = longest(model, settings["span_length"])
        self.windows = spans.windows(tokenizer, questions, most, settings["stride"])
        self.lengths = np.array([len(one.columns["input_ids"]) for one in self.windows], int)
        self._padding = {
            "input_ids": tokenizer.pad_token_id,
            "token_type_ids": tokenizer.pad_token_type_id,
        }
        places = [spans.labels(one, questions[one.question]) for one in self.windows]
        self._wanted = torch.tensor(places, dtype=torch.long)

    def inputs(self, items: NDArray[np.int64], epoch: int) -> dict[str, Tensor]:
        """Return what a batch is learnt from."""
        return self.texts(items, epoch) | {"wanted": self._wanted[torch.from_numpy(items)]}

    def texts(self, items: NDArray[np.int64], _: int) -> dict[str, Tensor]:
        """Return what the model is called with."""
        return spans.padded([self.windows[item] for item in items], self._padding)


def task_of(name: str, settings: dict[str, Any]) -> Any:
    """Return a task by its name.

    Args:
        name: of `encoder_tasks.ENCODER_TASKS`.
        settings: of `encoder_tasks`: `length`, `span_length` and `stride` in tokens, `batch` and
            `precision`.
    """
    if name == "SQuAD":
        return SpanTask(settings)
    labels, measures = {
        "QQP": (PARAPHRASE, ("f1", "accuracy")),
        "MNLI": (ENTAILMENT, ("accuracy",)),
        "STS-B": ((), ("spearman", "pearson")),
        "MRPC": (PARAPHRASE, ("f1", "accuracy")),
        "SICK-E": (ENTAILMENT, ("accuracy",)),
    }[name]
    return PairTask(name, labels, measures, settings)
