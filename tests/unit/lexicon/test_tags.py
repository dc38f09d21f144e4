"""Parts of speech of a lexicon's words, by a tiny real Stanza package."""

import json

import pytest

from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from tests.unit.lexicon.conftest import SETTINGS, make, with_lexicon, write_pairs
from tests.unit.lexicon.test_lexicon import entry, rows_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.lexicon import entries, word_tags
from workflow_scripts.stages.lexicon.word_tags import Parts

TAGGER = {"folder": str(FOLDER), "package": PACKAGE}


def test_the_most_frequent_part_counts():
    parts = Parts(["book", "old", "no"])
    for tag in ("VERB", "NOUN", "NOUN"):
        parts.add(
            {"Book": frozenset({tag}), "old": frozenset({"NOUN", "ADJ"}), "x": frozenset({"X"})}
        )
    assert parts.most_frequent() == {"book": "NOUN", "old": "ADJ"}


def write_tags(folder, path, inputs):
    """Run the command on the words of a lexicon; return the file."""
    output = folder / "tags" / "tags.parquet"
    options = {
        "--config": json.dumps({**TAGGER, "language": LANGUAGE}),
        "--inputs": json.dumps(inputs),
        "--training-sets": path,
        "--words": folder / "words",
        "--output": output,
    }
    word_tags.main([str(word) for option in options.items() for word in option])
    return output


@pytest.mark.slow
def test_entries_have_the_part_that_both_words_share(config, tmp_path):
    pairs = [
        ("The teacher bought a book.", "The doctor bought a book."),
        ("A teacher saw the boy.", "A doctor saw the boy."),
    ]
    path = write_pairs(tmp_path / "set" / "pairs.parquet", pairs)
    make(tmp_path, [path])
    layout = run_layout(with_lexicon(config, tagger=TAGGER))
    inputs = layout.declaration("lexicon").inputs("phrases-tags")
    tags = write_tags(tmp_path, path, inputs)
    output = tmp_path / "tagged"
    entries.write_entries(SETTINGS, tmp_path / "words", tmp_path / "counts", 1, output, tags)
    row = entry(rows_of(output), "teacher", "doctor")
    assert (row["count"], row["tag"]) == (2, "NOUN")
    assert entry(rows_of(tmp_path / "lexicon"), "teacher", "doctor")["tag"] is None
    with pytest.raises(InputError, match="changed since the run was planned"):
        write_tags(tmp_path, path, dict.fromkeys(inputs, "0" * 64))


def test_a_tagger_is_a_unit_of_its_own(config):
    plain = run_layout(with_lexicon(config))
    layout = run_layout(with_lexicon(config, tagger=TAGGER))
    assert ("lexicon", "phrases-tags") in layout.units()
    assert ("lexicon", "phrases-tags") in layout.upstream(("lexicon", "phrases"))
    for name in ("phrases-words", "phrases-counts"):
        assert plain.key("lexicon", name) == layout.key("lexicon", name)
    assert len(layout.declaration("lexicon").inputs("phrases-tags")) > 1
    assert layout.declaration("lexicon").inputs("phrases") == {}


def test_a_folder_that_lacks_the_models_is_named(config, tmp_path):
    other = with_lexicon(config, tagger={"folder": str(tmp_path), "package": "default"})
    with pytest.raises(InputError, match=r"lexicons\.phrases\.tagger\.folder"):
        run_layout(other).key("lexicon", "phrases")
