import hashlib
import random
import shutil
import threading
import types

import pytest

from tests.unit.corpus.server import dripping, serving
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.stages.corpus import fetch as fetch_module
from workflow_scripts.stages.corpus.fetch import download, fetch

CONTENT = random.Random(1).randbytes(3_000_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def site():
    with serving({"/a.gz": CONTENT}) as site:
        yield site


@pytest.fixture
def output(tmp_path):
    return tmp_path / DIGEST / "a.gz"


def get(site, output, expected=DIGEST):
    fetch(f"{site.url}/a.gz", expected, output, pause=0.001)


def part(output):
    return output.with_name(".a.gz.part")


def test_file_and_record(site, output):
    get(site, output)
    assert output.read_bytes() == CONTENT
    record = read_sealed(output.with_name("a.gz.json"))
    assert record.pop("sha256")
    assert record == {"files": {"a.gz": DIGEST}, "bytes": len(CONTENT), "url": f"{site.url}/a.gz"}
    assert not part(output).exists()


def test_kept_file_is_not_asked_for_again(site, output):
    get(site, output)
    output.with_name("a.gz.json").unlink()
    get(site, output)
    assert len(site.requests) == 1
    assert output.with_name("a.gz.json").exists()


def test_goes_on_where_the_connection_was_cut(site, output, capsys):
    site.cut_after = [1_000_000, 500_000]
    get(site, output)
    assert output.read_bytes() == CONTENT
    assert [asked for _, asked in site.requests] == [None, "bytes=1000000-", "bytes=1500000-"]
    assert "the connection ended after 1,000,000 of 3,000,000 bytes; trying again" in (
        capsys.readouterr().err
    )


def test_goes_on_in_the_next_process(site, output):
    site.cut_after = [700_000] + [0] * 5
    with pytest.raises(InputError, match="700,000 bytes that came are kept: the same command goes"):
        get(site, output)
    assert not output.exists()
    site.requests.clear()
    get(site, output)
    assert [asked for _, asked in site.requests] == ["bytes=700000-"]
    assert output.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("behaviour", "asked"),
    [
        (
            {"cut_after": [0, 0, 0, 0, 10, 0, 0, 0, 0, 10]},  # tries count anew with what came
            [*[None] * 5, *["bytes=10-"] * 5, "bytes=20-"],
        ),
        ({"cut_after": [1_000_000], "ranges": False}, [None, "bytes=1000000-"]),
        ({"cut_after": [1_000_000], "shift": 7}, [None, "bytes=1000000-", None]),
        ({"most": 1_400_000}, [None, "bytes=1400000-", "bytes=2800000-"]),
        ({"failures": [503, 429, 500]}, [None] * 4),
    ],
    ids=["in bits", "no ranges", "another part", "parts unasked", "passing trouble"],
)
def test_the_file_comes_whole_however_the_server_behaves(site, output, behaviour, asked):
    vars(site).update(behaviour)
    get(site, output)
    assert output.read_bytes() == CONTENT
    assert [each for _, each in site.requests] == asked


@pytest.mark.parametrize(
    ("behaviour", "message", "requests"),
    [
        ({"most": 4_000_000, "shift": 7}, "the server sends another part than asked for", None),
        *(
            ({"failures": [status] * 9}, f"a.gz: the server answers {status}", 1)
            for status in (403, 404, 410)
        ),
        *(
            ({"redirects": {"/a.gz": to}}, rf"a\.gz: it leads to .*{to}.*only http and https", 1)
            for to in ("ftp://127.0.0.1:1/a.gz", "file:///etc/passwd", "data:,x")
        ),
        ({"cut_after": [1] * 1000}, "gave up after 50 tries that brought less than 65,536", 50),
        (
            {"ranges": False, "cut_after": [100_000, 200_000] * 100},
            "gave up after 5 tries that brought nothing",
            7,
        ),
    ],
)
def test_what_a_server_does_that_is_refused(site, output, behaviour, message, requests):
    vars(site).update(behaviour)
    with pytest.raises(InputError, match=message):
        get(site, output)
    assert requests in (None, len(site.requests))
    assert not output.exists()


def test_file_that_changes_between_two_answers_is_fetched_anew(site, output):
    site.files["/a.gz"] = bytes(3_000_000)
    site.cut_after = [1_000_000]

    def change(_):
        site.files["/a.gz"] = CONTENT

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetch_module.time, "sleep", change)
        get(site, output)
    assert output.read_bytes() == CONTENT
    assert [asked for _, asked in site.requests] == [None, "bytes=1000000-", None]


def test_a_part_that_is_the_whole_file_is_not_asked_for_twice(site, output):
    site.endless = True
    get(site, output)
    assert output.read_bytes() == CONTENT
    assert [asked for _, asked in site.requests] == [None, "bytes=3000000-"]
    output.replace(part(output))
    get(site, output)
    assert [asked for _, asked in site.requests[2:]] == ["bytes=3000000-"]


@pytest.mark.parametrize("sizes", [True, False])
@pytest.mark.parametrize("old", [b"of another file", CONTENT + b"and more", bytes(3_000_000)])
def test_old_part_that_does_not_fit_is_fetched_anew(site, output, old, sizes):
    site.sizes = sizes
    output.parent.mkdir()
    part(output).write_bytes(old)
    get(site, output)
    assert output.read_bytes() == CONTENT


def test_wrong_bytes_are_thrown_away_with_both_hashes_told(site, output):
    wrong = bytes(reversed(CONTENT))
    site.files["/a.gz"] = wrong
    with pytest.raises(InputError) as error:
        get(site, output)
    assert hashlib.sha256(wrong).hexdigest() in str(error.value)
    assert DIGEST in str(error.value)
    assert "Look whether the file has changed" in str(error.value)
    assert not output.exists()
    assert not part(output).exists()


@pytest.mark.parametrize("start", [b"<!DOCTYPE html>", b"\xef\xbb\xbf\n <HTML lang=en>"])
def test_a_page_in_place_of_a_file_is_named(site, output, start):
    site.files["/a.gz"] = start + b"<p>Please log in</p>"
    with pytest.raises(InputError, match="It is a page for people"):
        get(site, output)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:1/a.gz", "Connection refused.*gave up after 5 tries"),
        *(
            (url, "only http and https")
            for url in ("ftp://127.0.0.1:1/a", "file:///etc/passwd", "/etc/passwd", "a")
        ),
        ("http://127.0.0.1:1/žluť", "127"),
        ("http://[::1/a", "::1"),
        ("http://h:port/a", "port"),
    ],
)
def test_what_can_not_be_fetched_is_told(output, url, message):
    with pytest.raises(InputError, match=message):
        fetch(url, DIGEST, output, pause=0.001)


def test_two_at_once_fetch_it_once(site, output):
    threads = [threading.Thread(target=get, args=(site, output)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(site.requests) == 1
    assert output.read_bytes() == CONTENT


def test_damaged_kept_file_is_fetched_again(site, output):
    get(site, output)
    output.write_bytes(CONTENT[:-1] + b"?")
    get(site, output)
    assert output.read_bytes() == CONTENT


def test_file_without_a_known_hash(site, tmp_path):
    site.cut_after = [10]
    download(f"{site.url}/a.gz", tmp_path / "part", pause=0.001)
    assert (tmp_path / "part").read_bytes() == CONTENT


def test_redirect_on_the_web_is_followed(site, output):
    site.redirects["/b.gz"] = f"{site.url}/a.gz"
    fetch(f"{site.url}/b.gz", DIGEST, output, pause=0.001)
    assert output.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("length", "message"),
    [(str(1 << 41), "larger than 1,099,511,627,776 bytes"), (str(1 << 40), "free, of which")],
)
def test_file_that_is_too_large_is_refused_before_it_comes(
    site, output, monkeypatch, length, message
):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: types.SimpleNamespace(free=1 << 40))
    site.length = length
    with pytest.raises(InputError, match=message):
        get(site, output)
    assert len(site.requests) == 1
    assert part(output).stat().st_size == 0


def test_file_of_unknown_length_does_not_fill_the_disk(site, output, monkeypatch):
    site.length = ""
    free = iter([1 << 40, 1 << 20])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: types.SimpleNamespace(free=next(free)))
    with pytest.raises(InputError, match=r"1,048,576 free, of which 268,435,456 are kept"):
        get(site, output)
    assert part(output).stat().st_size == 0


@pytest.mark.parametrize("length", ["²", "-1", "9" * 5000, "x"])
def test_length_that_is_no_number_or_wrong_is_not_believed(site, output, length):
    site.length = length
    try:
        get(site, output)
    except InputError as error:
        assert "larger than" in str(error) or "gave up" in str(error)
    else:
        assert output.read_bytes() == CONTENT


def test_slow_connection_is_cut(site, output, monkeypatch):
    site.ranges = False  # or small parts would add up to the file
    now = iter(range(0, 10**9, 61))
    monkeypatch.setattr(fetch_module.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(fetch_module, "_LITTLE_BYTES", 1 << 30)
    with pytest.raises(InputError, match=r"only [\d,]+ bytes came in 60 s; gave up"):
        get(site, output)


@pytest.mark.parametrize("piece", [b"HTTP/1.1 100 Continue\r\n\r\n", b"H"])
def test_head_that_never_ends_is_cut(output, monkeypatch, piece):
    monkeypatch.setattr(fetch_module, "_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(fetch_module, "_TRIES", 1)
    expected = r"head did not come in 0.2 s; gave up"
    with serving({}, dripping(piece)) as site, pytest.raises(InputError, match=expected):
        get(site, output)


def test_escapes_in_what_a_server_says_do_not_reach_the_terminal(site, output, capsys):
    site.redirects["/a.gz"] = f"{site.url}/%1b%5b31m.gz"
    site.files["/%1b%5b31m.gz"] = CONTENT
    site.cut_after = [10]
    get(site, output)
    assert "\x1b" not in capsys.readouterr().err
