"""Paraphrasing by a rewriter: a model that was trained on paraphrases."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from paraloom.answers import Paraphrase, Paraphrases
from paraloom.batches import answered, best_of, wished_of
from paraloom.judging import ready_judge
from paraloom.requests import (
    Request,
    device_for,
    require_count,
    require_path,
    require_samples,
    require_seed,
    wishes_of_call,
)
from paraloom.threads import Threads, one_torch_thread
from workflow_scripts.core.cli import CommandParser
from workflow_scripts.plan.catalogues.judges import DEFAULT
from workflow_scripts.plan.run.run_folders import run_folder
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.rewrite.opening import add_options, open_rewriter
from workflow_scripts.stages.rewrite.requests import Answer as Found
from workflow_scripts.stages.score.near_doubles import content_key


class Rewriter:
    """Paraphrases sentences by a rewriter of a run: one search, no source.

    What differs from the text by function words, case and punctuation alone is no paraphrase, but
    of a rewriter that repairs texts. Several threads may call one object, and take turns; each
    stream is for one of them.

    Args:
        folder: of a rewriter, or of a run that has one; or a run's name.
        name: which rewriter, where the run has several.
        beam: hypotheses of the beam search.
        judge: as that of a Paraphraser; it has the texts alone to judge by.
        precision: as that of a Paraphraser.
        device: as that of a Paraphraser.
        seed: of samples.
        threads: as those of a Paraphraser.

    Attributes:
        language: of the texts; None where the folder does not tell it.
        at_least: as that of a Paraphraser; 0 of a rewriter that repairs, as the judge knows no
            slips that are mended.

    Raises:
        InputError: there is no rewriter, or it can't be read.
    """

    @one_torch_thread()
    def __init__(
        self,
        folder: str | Path,
        name: str | None = None,
        beam: int = 12,
        judge: str | Path | None = DEFAULT,
        precision: str = "int8",
        device: str | None = None,
        seed: int = 1,
        threads: int = 1,
    ):
        beam = require_count("beam", beam)
        self._seed = require_seed(seed)
        path = require_path("folder", folder)
        is_run = (run_folder(path) / "config.yaml").is_file() or not path.is_dir()
        parser = CommandParser()
        add_options(parser)
        arguments = parser.parse_args([f"--{'run' if is_run else 'model'}={path}", "--no-meaning"])
        arguments.rewriter, arguments.beam_size = name, beam
        arguments.precision, arguments.device = precision, device_for(device, precision)
        self._engine = open_rewriter(arguments)
        self.language = self._engine.language
        self._judge = ready_judge(judge, self.language, device)
        repairs = self._engine.settings.copies
        self.at_least = self._judge.at_least if self._judge and not repairs else 0.0
        self._threads = Threads(threads)

    # A text is an iterable of texts, too: the first signature counts.
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        texts: str | Request,
        n: int = 5,
        samples: int | None = None,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
        at_least: float | None = None,
    ) -> Paraphrases: ...

    @overload
    def __call__(
        self,
        texts: Iterable[str | Request],
        n: int = 5,
        samples: int | None = None,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
        at_least: float | None = None,
    ) -> Iterator[Paraphrases]: ...

    def __call__(
        self,
        texts: str | Request | Iterable[str | Request],
        n: int = 5,
        samples: int | None = None,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
        at_least: float | None = None,
    ) -> Paraphrases | Iterator[Paraphrases]:
        """Return the paraphrases of a text, or a stream of those of many, in order.

        Args:
            texts: as a Paraphraser takes them; sources are not looked at.
            n: how many paraphrases of each, best first.
            samples: draw so many at random in place of a beam search, by seed and text; the best
                `n` of them come back.
            keep: words and phrases that every paraphrase must have; not together with samples.
            avoid: words and phrases that no paraphrase may have, in whatever case.
            at_least: as that of a Paraphraser.

        Raises:
            ArgumentError: an argument can't be.
        """
        if at_least is None and self._engine.settings.copies:
            at_least = 0.0  # a mended word may share nothing with the text
        defaults = wishes_of_call(n, keep, avoid, at_least)
        drawn = require_samples(samples, keep)

        def answer(requests: list[Request]) -> list[Paraphrases]:
            given = list(wished_of(self._engine, requests, drawn, self._seed))
            judged = iter(self._probabilities(given))
            return [
                self._best(request, found, [next(judged) for _ in found.paraphrases])
                for request, found in given
            ]

        settings = self._engine.settings
        size = max(1, settings.batch_rows // max(settings.beam_size, drawn))
        return answered(texts, defaults, answer, size, self._threads)

    def _probabilities(self, given: Sequence[tuple[Request, Found]]) -> list[float] | list[None]:
        both = [(found.request.text, each.text) for _, found in given for each in found.paraphrases]
        if self._judge is None or not both:
            return [None] * len(both)
        texts, paraphrases = zip(*both, strict=True)
        return self._judge.probabilities(Pairs(texts, paraphrases))

    def _best(
        self, request: Request, found: Found, probabilities: list[float | None]
    ) -> Paraphrases:
        language = self.language or ""
        own = content_key(request.text, language)
        copies = self._engine.settings.copies
        different = (
            Paraphrase(each.text, probability, each.score, None)
            for each, probability in zip(found.paraphrases, probabilities, strict=True)
            if copies or content_key(each.text, language) != own
        )
        return best_of(request, different, language, found.why, found.unknown, self.at_least)
