import math
import os
import subprocess
import sys

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train.model_quality import (
    bleu,
    corpus_bleu,
    perplexity,
    read_ids,
    translations,
)

pytestmark = pytest.mark.slow


def test_bleu_is_sacrebleu_s_with_its_signature():
    references = ["the cat sees the dog .", "a house on the hill ."]
    assert corpus_bleu(references, references)["score"] == 100.0
    other = corpus_bleu(["the cat sees the dog .", "a dog on the hill ."], references)
    assert 50 < other["score"] < 100
    assert other["sentences"] == 2
    assert other["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


@pytest.fixture(scope="module")
def model(trained):
    return load_model(trained, "cpu")


def test_every_source_has_a_line_also_those_that_cannot_be_read(bitext, model):
    source, target = (Segmenter(bitext.models[side]) for side in ("source", "reference"))
    sources = [source.pieces("kočka vidí pes."), [], ["▁"] * 500]
    found = list(translations(model, sources, target))
    assert found[1:] == ["", ""]
    assert found[0]
    assert "▁" not in found[0]


def test_bleu_reads_files_of_pieces(bitext, model, tmp_path):
    source, target = (Segmenter(bitext.models[side]) for side in ("source", "reference"))
    sources = ["kočka vidí pes.", "žena nese dům."]
    translated = list(translations(model, [source.pieces(text) for text in sources], target))
    paths = (tmp_path / "test.source", tmp_path / "test.target")
    paths[0].write_text("".join(" ".join(source.pieces(text)) + "\n" for text in sources))
    paths[1].write_text("".join(" ".join(target.pieces(text)) + "\n" for text in translated))
    assert bleu(model, paths, target)["score"] == pytest.approx(100.0)


@pytest.mark.rest
def test_perplexity_is_per_piece_as_sockeye_scores_it(bitext, trained, model, tmp_path):
    sides = [Segmenter(bitext.models[side]) for side in ("source", "reference")]
    texts = [("kočka vidí pes.", "cat sees dog."), ("žena nese.", "house dog house cat.")]
    paths = [tmp_path / name for name in ("dev.source", "dev.target")]
    for path, segmenter, column in zip(paths, sides, zip(*texts, strict=True), strict=True):
        path.write_text("".join(" ".join(segmenter.pieces(text)) + "\n" for text in column))
    command = [sys.executable, "-m", "sockeye.score", "--model", str(trained), "--use-cpu"]
    command += ["--source", str(paths[0]), "--target", str(paths[1]), "--no-logfile"]
    command += ["--output", str(tmp_path / "scores"), "--output-type", "score"]
    # The sum of the negative log-probabilities, not their mean.
    command += ["--length-penalty-alpha", "0.0", "--score-type", "neglogprob"]
    subprocess.run(
        command, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    total = sum(map(float, (tmp_path / "scores").read_text().split()))
    pieces = sum(len(line.split()) + 1 for line in paths[1].read_text().splitlines())
    found = perplexity(model, read_ids(model, tuple(paths)))
    assert found == pytest.approx(math.exp(total / pieces), rel=1e-4)


def test_a_dev_set_that_cannot_be_scored_is_an_error(model, tmp_path):
    paths = (tmp_path / "dev.source", tmp_path / "dev.target")
    for path in paths:
        path.write_text("▁ " * 500 + "\n")
    with pytest.raises(InputError, match="can't score any validation pair"):
        perplexity(model, read_ids(model, paths))
