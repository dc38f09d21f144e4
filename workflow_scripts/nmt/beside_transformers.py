"""Compares a folder of Hugging Face with transformers, for `paraloom inspect --compare`.

Real weights of M2M100, NLLB, BART, mBART and PEGASUS were not within reach when their loader was
written. Whoever has some can see here whether they are read as the library reads them.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import HUGGING_FACE, HUGGING_FACE_MORE, model_files
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.loaders.hugging_face_config import read_config
from workflow_scripts.nmt.loaders.hugging_face_pieces import Orders, read_orders
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import source_coder
from workflow_scripts.nmt.vocabulary import BOS, EOS

_BEAM = 4
# Nats. Two orders of the same sums in fp32 differ by less at published sizes.
_NEARLY = 1e-3
# Nats that the first token of an output may cost a model for which our searches always write it.
_UNASKED = 0.1


@dataclass(frozen=True)
class Comparison:
    """What a comparison found on `sentences` sources.

    `same_ids`: how many the library's tokenizer gives the same ids; `log_probabilities`: the
    greatest difference (nats) of a next token's, over all tokens and places of our outputs;
    `same_outputs`: how many outputs of a beam of 4 are the same (the two searches treat ended
    hypotheses differently); `refused`: why the model should not be used.
    """

    sentences: int
    same_ids: int
    log_probabilities: float
    same_outputs: int
    refused: list[str]

    def shown(self) -> dict[str, float]:
        """Return what `paraloom inspect` prints of it."""
        found = asdict(self)
        del found["refused"]
        return found


@torch.inference_mode()
def compare(folder: Path, sentences: list[str]) -> Comparison:
    """Compare a model with its class in transformers, in fp32.

    Args:
        folder: of a kind of Hugging Face.
        sentences: in the model's source language; empty ones and too long ones are left out.

    Raises:
        InputError: the folder is of another kind, no sentence is left, or the library is missing
            or can't read the folder.
    """
    files = model_files(folder)
    if files.kind not in (HUGGING_FACE, HUGGING_FACE_MORE):
        raise InputError(f"{folder}: {files.kind} can't be compared, only folders of Hugging Face")
    model = load_model(folder, "cpu")
    orders = read_orders(folder, files, read_config(folder, files))
    library = _Library(folder, model, orders)
    coder = source_coder(model, model.source_spm)
    sources = {text: coder.encode(text) for text in sentences}
    sources = {text: source for text, source in sources.items() if model.can_read(source)}
    if not sources:
        raise InputError(f"{folder}: no sentence to compare that the model can read")
    requests = [BeamRequest(source) for source in sources.values()]
    results = list(translate(model, requests, beam_size=_BEAM))
    outputs = [next(iter(result.outputs), []) for result in results]
    pairs = list(zip(sources.values(), outputs, strict=True))
    other_ids = [text for text, source in sources.items() if not library.has_ids(text, source)]
    difference = max(library.difference(source, output) for source, output in pairs)
    refused = []
    if other_ids:
        refused.append(f"the library's tokenizer has other ids for {other_ids[0]!r}")
    if not difference <= _NEARLY:
        refused.append(f"log-probabilities differ from the library's by {difference:.2g} nats")
    if orders.languages is None and model.marks.lead:
        cost = max(library.cost_of_start(source) for source in sources.values())
        if not cost <= _UNASKED:
            refused.append(f"an output begins with <s> here; the model gives it {-cost:.2g} nats")
    return Comparison(
        sentences=len(sources),
        same_ids=len(sources) - len(other_ids),
        log_probabilities=difference,
        same_outputs=sum(library.writes(source, output) for source, output in pairs),
        refused=refused,
    )


class _Library:
    """A model and its tokenizer in transformers, asked by ids of the core."""

    def __init__(self, folder: Path, model: Model, orders: Orders):
        try:
            import transformers  # takes seconds, and may be missing
        except ImportError as error:
            raise InputError(f"--compare needs the package transformers: {error}") from error
        self._ours, self._marks = model, model.marks
        self._source, self._target = orders.source.rows, orders.target.rows
        self._prompt: list[int] = self._target[[*model.marks.lead, BOS]].tolist()
        # A tag of OPUS-MT is part of the text, a code of a language is not.
        first = model.marks.first or BOS
        tagged = orders.languages is None and first != BOS
        tag = f"{model.source_vocab.pieces([first])[0]} " if tagged else ""
        self._before = tag + model.prefix
        source, target = (code.strip("_") for code in orders.languages or ("", ""))
        languages = {"src_lang": source, "tgt_lang": target} if orders.languages else {}
        transformers.utils.logging.disable_progress_bar()
        try:
            self._model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
                folder, dtype=torch.float32, local_files_only=True
            ).eval()
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, **languages
            )
        except Exception as error:  # of whatever part of it
            raise InputError(f"{folder}: transformers can't read it: {error}") from error
        config = self._model.config
        # The folder's own may have other settings of a search.
        self._model.generation_config = transformers.GenerationConfig(
            pad_token_id=config.pad_token_id,
            eos_token_id=config.eos_token_id,
            decoder_start_token_id=self._prompt[0],
        )

    def has_ids(self, text: str, source: list[int]) -> bool:
        """Tell whether its tokenizer gives a text the ids of a source."""
        ids: list[int] = self._tokenizer(self._before + text).input_ids
        return ids == self._ids(source)

    def difference(self, source: list[int], output: list[int]) -> float:
        """Return the greatest difference of a log-probability before and behind each token."""
        memory = self._ours.remember(*self._ours.encode([source]))
        logits = self._ours.network.output(self._ours.decode([output], memory))
        ours = logits[:, : len(self._target)].log_softmax(1)
        theirs = self._log_probabilities(source, [*self._prompt, *self._target[output].tolist()])
        theirs = theirs[len(self._prompt) - 1 :, self._target]
        both = ours.isfinite() & theirs.isfinite()
        return float((ours - theirs)[both].abs().max())

    def cost_of_start(self, source: list[int]) -> float:
        """Return the NLL that the model gives the core's <s> behind its lead."""
        *lead, start = self._prompt
        return -float(self._log_probabilities(source, lead)[-1, start])

    def writes(self, source: list[int], output: list[int]) -> bool:
        """Tell whether its beam search has this output."""
        rows, words = self._target, self._ours.target_vocab.words
        never = {*rows[:EOS].tolist(), *rows[words:].tolist()} - {int(rows[EOS])}
        [found] = self._model.generate(
            torch.tensor([self._ids(source)]),
            decoder_input_ids=torch.tensor([self._prompt]),
            num_beams=_BEAM,
            do_sample=False,
            early_stopping=True,
            forced_eos_token_id=int(rows[EOS]),
            length_penalty=1.0,
            max_new_tokens=self._ours.max_output_length(len(source)),
            suppress_tokens=sorted(never),
        ).tolist()
        written: list[int] = found[len(self._prompt) :]
        return written == [*rows[output].tolist(), int(rows[EOS])][: len(written)]

    def _ids(self, source: list[int]) -> list[int]:
        ids: list[int] = self._source[[*source, *self._marks.end]].tolist()
        return ids

    def _log_probabilities(self, source: list[int], prefix: list[int]) -> Tensor:
        """Return those of the tokens behind each token of a prefix [P, V]."""
        answer = self._model(
            input_ids=torch.tensor([self._ids(source)]), decoder_input_ids=torch.tensor([prefix])
        )
        return answer.logits[0].log_softmax(1)
