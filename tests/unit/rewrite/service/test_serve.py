"""The command that serves: its address, what it refuses, its end."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from workflow_scripts.apps.rewriter import serve
from workflow_scripts.apps.web import serving
from workflow_scripts.core.errors import InputError

ROOT = Path(__file__).resolve().parents[4]


@contextmanager
def served(folder, *options):
    command = [sys.executable, "-m", "workflow_scripts.apps.rewriter.serve", "--model", str(folder)]
    with subprocess.Popen(
        [*command, "--port", "0", "--no-meaning", "--language", "en", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def ask(address, text):
    body = json.dumps({"text": text}).encode()
    request = urllib.request.Request(
        f"{address}api/paraphrase", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.rest
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_this_machine_and_ends_when_told(folder, number):
    with served(folder) as (process, address):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert ask(address, "Muž opravuje kolo.")["paraphrases"]
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode in (0, -number)
    assert "Traceback" not in err
    assert "POST /api/paraphrase 200" in out
    assert "opravuje" not in out + err


@pytest.mark.slow
def test_sentences_are_logged_where_asked(folder):
    with served(folder, "--log-sentences", "--quiet") as (process, address):
        ask(address, "Muž opravuje kolo.")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert "'Muž opravuje kolo.'" in out
    assert "POST" not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "lets others in: say by which name"),
        (["--seconds", "0"], "--seconds must be above zero"),
        (["--model", "nowhere"], "nowhere: no such folder"),
        (["--run", "nowhere"], "no run there"),
    ],
)
def test_what_can_not_be_served_is_told(folder, options, message):
    where = [] if "nowhere" in options else ["--model", str(folder)]
    with pytest.raises(InputError, match=message):
        serve.main([*where, *options, "--no-meaning"])


def test_a_taken_port_is_told():
    with (
        serving.listen("127.0.0.1", 0) as first,
        pytest.raises(InputError, match="choose another --port"),
    ):
        serving.listen("127.0.0.1", first.getsockname()[1])


@pytest.mark.slow
def test_others_are_let_in_by_name_with_a_warning(folder):
    with served(folder, "--host", "0.0.0.0", "--name", "machine.example") as (process, address):
        assert address.startswith("http://machine.example:")
        port = address.rstrip("/").rpartition(":")[2]
        for host, status in (("machine.example", 200), ("other.example", 403)):
            request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": host})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    assert answer.status == status
            except urllib.error.HTTPError as error:
                assert error.code == status
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert "warning: whoever reaches this address can use the service" in err
