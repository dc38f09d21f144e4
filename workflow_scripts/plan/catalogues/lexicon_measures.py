"""What lexicons are measured against: `evaluate.lexicons` (docs/lexicon.md).

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import files_below
from workflow_scripts.core.files.paths import Located
from workflow_scripts.core.files.regular_files import regular_file
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.encoder_blocks import encoder_settings
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled

KEY = "evaluate.lexicons"
# Lists of files of the user's; of the first one folders, too.
LISTS = ("word_similarity", "ppdb", "antonyms", "vectors")
# Database files of WordNet: data.noun, noun.exc and so on.
WORDNET_FILES = tuple(
    name for pos in ("noun", "verb", "adj", "adv") for name in (f"data.{pos}", f"{pos}.exc")
)
_NO_WORDNET = "name the folder of WordNet's database files (Debian: apt-get install wordnet-base)"


def lexicon_measures(config: Config) -> dict[str, Any] | None:
    """Return the block with its defaults; None where the run has none."""
    block = config["evaluate"].get("lexicons")  # configurations of earlier runs lack the key
    return None if block is None else filled(block, "lexicon_measures")


def on_testbed(config: Config) -> bool:
    """Tell whether all references come from the testbed, so that their synonyms are known."""
    corpora = selection.generate_corpora(config)
    return bool(corpora) and all("testbed" in config["corpora"][name] for name in corpora)


def measured(config: Config) -> bool:
    """Tell whether lexicons are measured."""
    return lexicon_measures(config) is not None or on_testbed(config)


def settings(config: Config) -> dict[str, Any]:
    """Return the block with its paths where they are; of a run without one, no paths."""
    block = lexicon_measures(config) or filled({}, "lexicon_measures")
    folder = block["wordnet"]
    english = config["languages"]["reference"]["code"] in ENGLISH
    return {
        **{key: selection.located(config, block[key]) for key in LISTS},
        "wordnet": folder and selection.located(config, [folder])[0],
        # The one that ships knows English.
        "encoder": encoder_settings(None, config) if block["encoder"] and english else None,
    }


def files(config: Config) -> dict[str, list[str]]:
    """Return the user's files by the key that names them.

    Raises:
        InputError: a file or folder is missing.
    """
    block = settings(config)
    # Of a folder with word pairs all files count; elsewhere each file is named, for a folder may
    # have others that would be read as lists of words.
    named = {
        f"{KEY}.{key}": [str(regular_file(path, f"{KEY}.{key}")) for path in block[key]]
        for key in LISTS[1:]
    }
    named[f"{KEY}.{LISTS[0]}"] = files_below(block[LISTS[0]], f"{KEY}.{LISTS[0]}")
    folder: Located | None = block["wordnet"]
    if folder is None:
        return named
    paths = [Path(folder, name) for name in WORDNET_FILES]
    if missing := [path.name for path in paths if not path.is_file()]:
        raise InputError(f"{KEY}.wordnet: {folder} has no {', '.join(missing)}; {_NO_WORDNET}")
    return named | {f"{KEY}.wordnet": [str(path) for path in paths]}


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the block beyond its schema."""
    block = lexicon_measures(config)
    language = config["languages"]["reference"]["code"]
    if block and block["wordnet"] and language not in ENGLISH:
        yield f"{KEY}.wordnet: WordNet is English, and the references are '{language}'; set null"
    if block and block["vectors"] and not block["word_similarity"]:
        yield (
            f"{KEY}.vectors: they are compared on word pairs, of which there are none; name some "
            "under word_similarity"
        )
