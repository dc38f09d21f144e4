"""The command line: sentences in, JSON lines or text out, as they come."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite import paraphrase
from workflow_scripts.stages.rewrite.requests import RequestError

ROOT = Path(__file__).resolve().parents[4]
SENTENCES = "Muž opravuje kolo.\nTento pes spí ve škole.\n"


@pytest.fixture
def call(folder, tmp_path, capsys):
    """Call the command on some text; return its output."""

    def called(text, *options, name="in.txt", where=("--model", str(folder))):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        paraphrase.main(
            [*where, "--language", "en", "--no-meaning", "--input", str(path), *options]
        )
        return capsys.readouterr()

    return called


def test_every_sentence_gets_a_line(call):
    lines = [
        json.loads(line)
        for line in call(SENTENCES, "--avoid", "bike", "school").out.split("\n")[:-1]
    ]
    assert [line["line"] for line in lines] == [1, 2]
    assert [line["text"] for line in lines] == SENTENCES.split("\n")[:-1]
    for line in lines:
        assert line["constraints_met"] is True
        assert line["avoided"] == ["bike", "school"]
        (best,) = line["paraphrases"]
        assert not {"bike", "school"} & set(best["text"].lower().rstrip(".").split())


@pytest.mark.slow
def test_plain_text_is_one_line_for_each(call):
    assert len(call(SENTENCES, "--to", "text").out.splitlines()) == 2
    lines = call(SENTENCES, "--to", "text", "--number", "3").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [
        *["Muž opravuje kolo."] * 3,
        *["Tento pes spí ve škole."] * 3,
    ]


def test_a_sentence_without_paraphrase_keeps_its_line(call):
    out = call("kolo " * 300 + "\n" + SENTENCES, "--to", "text")
    assert out.out.splitlines()[0] == ""
    assert len(out.out.splitlines()) == 3
    assert "line 1: too long" in out.err
    assert "1 of 3 sentences have no paraphrase" in out.err


@pytest.mark.slow
def test_words_that_can_not_be_read_are_told(call):
    out = call("Muž \u4e2d opravuje kolo.\n")
    assert "line 1: can't read \u4e2d" in out.err
    assert json.loads(out.out)["unknown"] == ["\u4e2d"]
    assert call(SENTENCES).err == ""


@pytest.mark.slow
def test_a_table_says_the_wishes_of_each_line(call):
    out = call(f"text\tuse\n{SENTENCES.split(chr(10))[0]}\twoman\n", name="in.tsv").out
    assert "woman" in json.loads(out)["paraphrases"][0]["text"]
    out = call(f"text\tuse\n{SENTENCES.split(chr(10))[0]}\twoman\n", name="IN.TSV").out
    assert json.loads(out)["used"] == ["woman"]


def test_the_standard_input_is_read_from_where_it_stands(folder, tmp_path, capsys):
    (tmp_path / "in.txt").write_text(f"Read.\n{SENTENCES}", encoding="utf-8")
    kept = os.dup(0)
    try:
        with (tmp_path / "in.txt").open("rb") as stream:
            os.dup2(stream.fileno(), 0)
        os.read(0, len("Read.\n"))
        paraphrase.main(["--model", str(folder), "--language", "en", "--no-meaning"])
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    assert [line["text"] for line in lines] == SENTENCES.splitlines()


def test_an_error_names_the_line_after_the_answers_before_it(call, capsys):
    with pytest.raises(RequestError, match="line 2: unknown key 'tex'"):
        call('{"text": "Muž opravuje kolo."}\n{"tex": "a"}\n', name="in.jsonl")
    assert json.loads(capsys.readouterr().out)["line"] == 1
    with pytest.raises(RequestError, match="line 2: 'samples' can't have words to use"):
        call('{"text": "pes"}\n{"text": "a", "use": ["b"], "samples": 2}\n', name="in.jsonl")
    assert json.loads(capsys.readouterr().out)["line"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--number", "0"), "command line: 'number' is below 1"),
        (("--avoid", "!"), "command line: 'avoid' has a word without"),
        (("--beam-size", "0"), "must be above zero"),
        (("--threads", "0"), "--threads must be above zero"),
        (("--rewriter", "a"), r"name \(--rewriter, name=\) goes with a run"),
        (("--idf", "x"), "--idf goes with --run"),
    ],
)
def test_options_are_checked(call, options, message):
    with pytest.raises(InputError, match=message):
        call(SENTENCES, *options)


@pytest.mark.slow
def test_a_reader_does_not_wait_for_more_lines(folder):
    """A program writes a sentence, reads the answer, and only then writes the next one."""
    command = [
        sys.executable,
        "-m",
        "workflow_scripts.stages.rewrite.paraphrase",
        "--model",
        str(folder),
    ]
    with subprocess.Popen(
        [*command, "--to", "text", "--no-meaning"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        encoding="utf-8",
    ) as process:
        for sentence in SENTENCES.splitlines():
            process.stdin.write(f"{sentence}\n")
            process.stdin.flush()
            assert process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait() == 0


@pytest.fixture
def made_run(folder, tmp_path):
    """A run of two rewriters, of which one is there."""
    run = tmp_path / "runs" / "mine"
    run.mkdir(parents=True)
    config = {
        "run": {"name": "mine", "rewriters": ["plain", "other"], "corpora": []},
        "results": "results",
        "languages": {"reference": {"code": "en"}},
        "systems": {"free": {"search": {"method": "beam", "beam_size": 5}}},
    }
    (run / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (run / "rewrite.plain").symlink_to(folder)
    return run


def test_a_run_has_its_rewriters(call, made_run):
    where = ("--run", str(made_run))
    assert call(SENTENCES, "--rewriter", "plain", "--to", "text", where=where).out
    for options, message in [
        ((), r"several rewriters; choose one \(--rewriter, name=\): plain, other"),
        (("--rewriter", "plane"), "did you mean 'plain'"),
        (("--rewriter", "other"), "no such folder; let the run finish"),
    ]:
        with pytest.raises(InputError, match=message):
            call(SENTENCES, *options, where=where)


def test_a_run_without_rewriters_is_told(call, made_run):
    path = made_run / "config.yaml"
    path.write_text(path.read_text("utf-8").replace("rewriters:", "others:"), encoding="utf-8")
    with pytest.raises(InputError, match=r"has no rewriter: name one in run\.rewriters"):
        call(SENTENCES, where=("--run", str(made_run)))


def test_a_damaged_folder_is_told(call, folder, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in folder.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    (broken / "rewriter.json").write_text("[")
    with pytest.raises(InputError, match=r"rewriter\.json can't be read"):
        call(SENTENCES, where=("--model", str(broken)))
    (broken / "params.best").write_bytes(b"")
    with pytest.raises(InputError, match=r"params\.best"):
        call(SENTENCES, where=("--model", str(broken)))
