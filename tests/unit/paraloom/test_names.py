"""The public names: what `import paraloom` loads, and that each name is there."""

import subprocess
import sys

import pytest

import paraloom

LOADED = """
import sys
import paraloom
paraloom.Request("a"), paraloom.Search(), paraloom.InputError, paraloom.ArgumentError
heavy = {"numpy", "pandas", "pyarrow", "scipy", "snakemake", "torch", "transformers"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""


def test_the_names_load_neither_torch_nor_other_large_packages():
    subprocess.run([sys.executable, "-c", LOADED], check=True)


def test_a_first_answer_needs_none_of_the_libraries_that_fit_train_and_draw():
    code = (
        "import sys, paraloom\nparaloom.Paraphraser, paraloom.Rewriter, paraloom.judge\n"
        "late = {'jinja2', 'pandas', 'sentence_transformers', 'sklearn', 'starlette'}\n"
        "assert not late & set(sys.modules), late & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there():
    for name in paraloom.__all__:
        assert getattr(paraloom, name) is not None
    assert dir(paraloom) == paraloom.__all__


def test_another_name_is_an_error():
    with pytest.raises(AttributeError, match="paraphrase"):
        _ = paraloom.paraphrase
