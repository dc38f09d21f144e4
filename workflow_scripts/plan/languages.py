"""What a run's languages mean for the stages (docs/languages.md).

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.plan.config import Config

# ISO 639 codes of languages that are written without blanks between words: Chinese (of several
# kinds), Japanese, Thai, Lao, Khmer, Burmese, Tibetan, Dzongkha, Shan.
WITHOUT_BLANKS = frozenset(
    [
        "bo",
        "cmn",
        "dz",
        "gan",
        "hak",
        "ja",
        "jpn",
        "khm",
        "km",
        "lao",
        "lo",
        "lzh",
        "mya",
        "my",
        "nan",
        "shn",
        "th",
        "tha",
        "wuu",
        "yue",
        "zh",
        "zho",
    ]
)
_REMEDY = (
    "put blanks between the words of the text beforehand (MeCab, jieba, PyThaiNLP) and say so: "
    "languages.{side}.segmented: true"
)


def has_words(config: Config, side: str) -> bool:
    """Tell whether blanks part the words of a side: `source` or `reference`."""
    language = config["languages"][side]
    return language["code"] not in WITHOUT_BLANKS or bool(language.get("segmented"))


def problems(config: Config) -> Iterator[str]:
    """Yield where a run counts on words that its texts do not show."""
    for side in ("source", "reference"):
        if not has_words(config, side) and config["clean"]["min_words"] > 1:
            yield (
                f"clean.min_words: the {side} side is '{config['languages'][side]['code']}', "
                "written without blanks, so most of its sentences are one word; set it to 1, or "
                + _REMEDY.format(side=side)
            )
    if has_words(config, "reference"):
        return
    code = config["languages"]["reference"]["code"]
    for name in config["run"]["systems"]:
        if config["systems"].get(name, {}).get("constraints"):
            yield (
                f"systems.{name}.constraints: they choose words of the references, and '{code}' is "
                f"written without blanks; set them to null, or {_REMEDY.format(side='reference')}"
            )


def notes(config: Config) -> Iterator[str]:
    """Yield what happens to texts in which words can't be told apart."""
    counts = {
        "source": "clean.max_words counts characters there, ten for a word",
        "reference": "clean.max_words counts characters there, ten for a word; 1-BLEU, "
        "intersection/union, length ratio, the columns of pairs and embeddings of words take a "
        "whole sentence for a word",
    }
    for side, what in counts.items():
        if not has_words(config, side):
            code = config["languages"][side]["code"]
            yield (
                f"languages.{side}: '{code}' is written without blanks. {what}. "
                f"To have words counted, {_REMEDY.format(side=side)}"
            )
