"""Two trained models with Sockeye's results for them, and sentences of ours that they know."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import write_record

# In this repository; tests/data/README.md says what lies there and how it is made.
SMALL = Path(__file__).with_name("data") / "nmt_oracle"

Pair = tuple[str, str]


@dataclass(frozen=True)
class Oracle:
    """A folder of a model with its cases, and texts for tests that need a model that writes words.

    `folder` holds `model/`, `spm.cs.model`, `spm.en.model` and `cases/`. `sentences` are pairs in
    the model's domain; `segmented` is one more pair, each side as text and as pieces. `line` asks
    for a translation under constraints. `word_list` has one word and its paraphrases a line, of
    words in `sentences`.
    """

    folder: Path
    sentences: tuple[Pair, Pair, Pair, Pair]
    segmented: dict[str, Pair]
    line: dict[str, Any]
    word_list: str

    def copy_model(self, folder: Path, languages: Pair = ("cs", "en"), swap: bool = False) -> Path:
        """Write a model folder with its record, as the stage `train` does; return it.

        Args:
            folder: an existing folder.
            languages: those of `source.model` and `reference.model`.
            swap: exchange the vocabularies of the two sides; the weights stay.
        """
        for path in (self.folder / "model").iterdir():
            name = path.name
            if swap and name.startswith("vocab."):
                name = name.replace("src", "trg") if "src" in name else name.replace("trg", "src")
            shutil.copyfile(path, folder / name)
        for role, language in zip(("source", "reference"), languages, strict=True):
            shutil.copyfile(self.folder / f"spm.{language}.model", folder / f"{role}.model")
        write_record(folder / "model", 0, 0, {}, files=list(folder.iterdir()))
        return folder


def small() -> Oracle:
    """Return the one in this repository, trained on testbed text."""
    return Oracle(
        SMALL,
        (
            ("Muž opravuje kolo.", "A man is repairing the bicycle."),
            ("Dvě ženy řídí auto.", "Two women are driving the car."),
            ("Tento pes spí ve škole.", "This dog is sleeping in the school."),
            ("Kluk rozbíjel hrnek.", "The boy was breaking the cup."),
        ),
        {
            "cs": ("Muž spí.", "▁Muž ▁s pí ."),
            "en": ("The man is sleeping.", "▁The ▁man ▁is ▁sleeping ."),
        },
        {"text": "Muž opravuje kolo.", "constraints": ["guy"], "avoid": ["<s> The"]},
        "repairing fixing mending\nwomen ladies\ndog hound\nboy lad\n",
    )


def large(data: Path) -> Oracle:
    """Return the one in the folder `data` of shared data, trained on captions."""
    return Oracle(
        data / "nmt_oracle",
        (
            ("Muž jede na kole po ulici.", "A man rides a bike down the street."),
            ("Dvě ženy stojí před domem.", "Two women stand in front of a house."),
            ("Pes běží po trávě.", "A dog runs across the grass."),
            ("Chlapec hraje fotbal.", "The boy plays football for his team."),
        ),
        {"cs": ("Muž spí.", "▁Muž ▁spí ."), "en": ("A man sleeping.", "▁A ▁man ▁sleeping .")},
        {"text": "Muž spí na gauči.", "constraints": ["sofa"], "avoid": ["<s> A"]},
        "rides drives travels\nwomen ladies girls\ndog cat\n",
    )
