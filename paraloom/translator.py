"""Translation of texts, with words to keep and words to avoid."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from paraloom import models
from paraloom.answers import Translation, Translations
from paraloom.batches import UNTRANSLATED, answered, is_copy, why_fewer, wished_of
from paraloom.requests import Request, require_count, require_samples, require_seed, wishes_of_call
from paraloom.threads import Threads
from workflow_scripts.stages.rewrite.rewriter import Rewriter, Settings

_BATCH_ROWS = 160


class Translator:
    """Translates texts.

    Several threads may call one object, and take turns; each stream is for one of them.

    Args:
        model: a name or a folder, as a Paraphraser takes them.
        precision: as that of a Paraphraser.
        device: as that of a Paraphraser.
        seed: of samples.
        threads: as those of a Paraphraser.

    Attributes:
        licence: of the model's weights; `unknown` where nobody says it.
        languages: the codes of what the model reads and writes; None where its files don't tell.

    Raises:
        InputError: the model is missing, or can't be read.
    """

    def __init__(
        self,
        model: str | Path,
        precision: str = "int8",
        device: str | None = None,
        seed: int = 1,
        threads: int = 1,
    ):
        self._loaded = models.load(model, device, precision)
        self.licence, self.languages = self._loaded.licence, self._loaded.languages
        self._seed = require_seed(seed)
        self._threads = Threads(threads)

    # A text is an iterable of texts, too: the first signature counts.
    @overload
    def translate(  # type: ignore[overload-overlap]
        self,
        texts: str | Request,
        n: int = 1,
        beam: int = 5,
        samples: int | None = None,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
    ) -> Translations: ...

    @overload
    def translate(
        self,
        texts: Iterable[str | Request],
        n: int = 1,
        beam: int = 5,
        samples: int | None = None,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
    ) -> Iterator[Translations]: ...

    def translate(
        self,
        texts: str | Request | Iterable[str | Request],
        n: int = 1,
        beam: int = 5,
        samples: int | None = None,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
    ) -> Translations | Iterator[Translations]:
        """Return the translations of a text, or a stream of those of many, in order.

        Args:
            texts: as a Paraphraser takes them.
            n: how many translations of each, best first.
            beam: hypotheses of the beam search; it is as wide as `n` at least.
            samples: draw so many at random in place of a beam search, by seed and text; the best
                `n` of them come back.
            keep: words and phrases of the other language that every translation must have; not
                together with samples.
            avoid: words and phrases that no translation may have, in whatever case.

        Raises:
            ArgumentError: an argument can't be.
        """
        defaults = wishes_of_call(n, keep, avoid)
        drawn = require_samples(samples, keep)
        loaded = self._loaded
        beam = max(require_count("beam", beam), defaults.n or 0)
        settings = Settings(beam, batch_rows=max(beam, _BATCH_ROWS), copies=True)
        engine = Rewriter(loaded.model, loaded.source, loaded.target, None, settings)

        def answer(requests: list[Request]) -> list[Translations]:
            answers = []
            for request, found in wished_of(engine, requests, drawn, self._seed):
                wanted = request.n or 0
                best = [Translation(each.text, each.score) for each in found.paraphrases[:wanted]]
                why = why_fewer(len(best), wanted, found.why)
                if best and is_copy(found.request.text, best[0].text):
                    why = UNTRANSLATED.format(loaded.name)
                answers.append(Translations(request.text, best, why, found.unknown))
            return answers

        size = max(1, settings.batch_rows // max(beam, drawn))
        return answered(texts, defaults, answer, size, self._threads)
