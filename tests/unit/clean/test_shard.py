import itertools
import json
from collections import Counter

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.inputs import arguments
from tests.tables import write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.stages.clean.shard import clean_pairs, main
from workflow_scripts.stages.corpus.importer import shard_of

CONFIG = {
    "charset": {"source": "latin-2", "reference": "latin-1"},
    "min_words": 1,
    "max_words": 10,
    "max_ratio": 3.0,
    "drop_copies": True,
}


def row(source, reference, corpus="c", number=1):
    return {"id": f"{corpus}:{number}", "source": source, "reference": reference, "corpus": corpus}


def reasons(*pairs, **changes):
    rows = [row(*pair) for pair in pairs]
    return [reason for _, reason in clean_pairs(rows, {**CONFIG, **changes})]


@pytest.mark.parametrize(
    ("source", "reference", "reason"),
    [
        ("Žluťoučký kůň.", "A yellow horse, naïve.", None),
        ("„Kůň“ – …", "“A horse” – …", None),  # judged after normalisation
        ("Garçon à la carte", "A waiter", "charset_source"),
        ("Pan Dvořák", "Mr Dvořák", "charset_reference"),
        ("\u0430no", "yes", "charset_source"),
        ("mÃ¡ psÅ\x99", "has a dog", "charset_source"),
        ("to je", "that\x92s it", "charset_reference"),
        ("to je \ufffd", "it is", "charset_source"),
        ("10 000", "ten thousand", "no_letters"),
        ("deset", "10.", "no_letters"),
        ("\u200b\u00ad", "nothing to see", "no_letters"),
        ("jeden dva", "one " * 11, "too_long"),
        ("jedendva" * 13, "one" * 30, "too_long"),
        ("kočka " * 5, "kitten " * 15, "too_long"),
        ("x" * 11, "y " * 9 + "y" * 30, "ratio"),
        ("Pili.", "They were drinking.", None),  # short sides count as ten characters
        ("Pili.", "They were drinking too much.", None),
        ("Pili.", "They were drinking too much beer.", "ratio"),
        ("Brand story", "BRAND STORY!", "copy"),
        ("Brand story", "A brand story", None),
    ],
)
def test_each_reason(source, reference, reason):
    assert reasons((source, reference)) == [reason]


def test_bounds_on_words_are_inclusive():
    assert reasons(("jeden dva", "one two"), min_words=2) == [None]
    assert reasons(("jeden", "one two"), min_words=2) == ["too_short"]
    assert reasons(("a b " * 5, "c d " * 5)) == [None]
    assert reasons(("a b " * 5 + "e", "c d " * 5)) == ["too_long"]


def test_copies_stay_when_asked_for():
    assert reasons(("Praha", "Praha"), drop_copies=False) == [None]


WISH = ("Přeji vám hezký den.", "I wish you a nice day.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (WISH, None),
        ((WISH[0], "Je vous souhaite une bonne journée."), "language_reference"),
        (("Ich wünsche Ihnen einen schönen Tag.", WISH[1]), "language_source"),
    ],
)
def test_a_side_in_another_language_is_left_out_when_asked_for(pair, reason):
    asked = {"source": {"code": "cs", "least": 0.1}, "reference": {"code": "en", "least": 0.1}}
    assert reasons(pair, language_confidence=asked) == [reason]
    assert reasons(pair) == [None]
    one = {"reference": asked["reference"]}
    expected = None if reason == "language_source" and pair[1] == WISH[1] else reason
    assert reasons(pair, language_confidence=one) == [expected and "language_reference"]


def test_entities_are_text_unescaped_or_rejected():
    pairs = [("Tom &amp; Jerry", "Tom &amp; Gerry"), ("Tom a Jerry", "it&#39;s Tom and Jerry")]
    assert reasons(*pairs) == [None, None]
    assert reasons(*pairs, entities="reject") == ["entities_source", "entities_reference"]
    unescapes = Counter()
    rows = [row(*pair) for pair in pairs]
    found = list(clean_pairs(rows, {**CONFIG, "entities": "unescape"}, unescapes))
    assert [reason for _, reason in found] == [None, None]
    assert [each["reference"] for each, _ in found] == ["Tom & Gerry", "it's Tom and Jerry"]
    assert unescapes == {"source": 1, "reference": 2}


def test_unescaped_entities_stand_in_the_record(tmp_path):
    _, _, record = rejects(tmp_path, ("Tom &amp; Jerry", "Tom and Gerry"), entities="unescape")
    assert record["extra"]["unescaped"] == {"source": 1, "reference": 0}
    _, _, record = rejects(tmp_path, ("Tom &amp; Jerry", "Tom and Gerry"))
    assert "unescaped" not in record["extra"]


def run_clean(inputs, corpora, output, **changes):
    config = {**CONFIG, "corpora": corpora, **changes}
    rejected = output.parent / "rejected" / f"{output.stem}.tsv.zst"
    main(arguments(config, pairs=inputs, output=output, rejected=rejected))
    return rejected


def rejects(tmp_path, *pairs, **changes):
    rows = [row(*pair, number=number) for number, pair in enumerate(pairs, 1)]
    path = tmp_path / "in" / "0000.parquet"
    write_table(path, PairRow, rows)
    output = tmp_path / "0000.parquet"
    rejected = run_clean([path], ["c"], output, **changes)
    assert verify(output)["files"].keys() == {
        *("0000.parquet", "rejected/0000.tsv.zst", "rejected/0000.tsv.json")
    }
    text = zstandard.decompress(rejected.read_bytes(), 1 << 20).decode("utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    return (
        lines,
        verify(rejected)["extra"]["characters"],
        json.loads(output.with_suffix(".json").read_text()),
    )


def test_pairs_that_are_left_out_are_listed_and_their_characters_counted(tmp_path, capsys):
    lines, characters, record = rejects(
        tmp_path,
        ("To stojí 5 €", "That costs 5 €"),
        ("Pan Dvořák", "Mr Dvořák\\"),
        ("Za 5 € a 6 €", "For 5"),
        ("to je", "that\x92s it"),
        ("dobrý", "good"),
        ("Dobrý!", "good"),
        ("10", "ten"),
    )
    assert [line[:3] for line in lines] == [
        ["c:1", "charset_source", "€ U+20AC"],
        ["c:2", "charset_reference", "ř U+0159"],
        ["c:3", "charset_source", "€ U+20AC"],
        ["c:4", "charset_reference", "U+0092"],
        ["c:6", "duplicate", ""],
        ["c:7", "no_letters", ""],
    ]
    assert lines[1][3:] == ["Pan Dvořák", "Mr Dvořák\\\\"]
    assert characters == {"source": {"€": 2}, "reference": {"\x92": 1, "ř": 1}}
    assert sum(record["rejected"].values()) == len(lines) == 6
    told = capsys.readouterr().err
    assert "characters outside latin-2 (source): € U+20AC 2" in told
    assert "characters outside latin-1 (reference): U+0092 1, ř U+0159 1" in told


def test_without_the_filter_only_a_side_without_text_is_left_out_and_the_rest_is_counted(tmp_path):
    pairs = [
        ("Pan Dvořák", "Mr Dvořák"),
        ("10", "„ten“"),
        ("Praha", "Praha"),
        ("\u200b", "nothing"),
    ]
    lines, _, record = rejects(tmp_path, *pairs, pairs[1], filter=False)
    assert [line[:2] for line in lines] == [["c:4", "empty"]]
    assert (record["rows_in"], record["rows_out"], record["rejected"]) == (5, 4, {"empty": 1})
    assert record["extra"]["passed"] == {"charset_reference": 1, "no_letters": 2, "copy": 1}
    assert record["extra"]["corpora"] == {"c": {"in": 5, "out": 4, "empty": 1}}
    kept = [each["reference"] for each in read_rows(tmp_path / "0000.parquet", PairRow)]
    assert kept == ["Mr Dvořák", '"ten"', "Praha", '"ten"']


def test_without_the_filter_every_pair_of_newstest_passes(tmp_path, data_dir):
    folder = data_dir / "newstest_cs_en"
    sides = [
        [
            path.read_text("utf-8").splitlines()
            for path in sorted(folder.glob(f"newstest201[23].{side}"))
        ]
        for side in ("cs", "en")
    ]
    pairs = list(zip(*(itertools.chain(*files) for files in sides), strict=True))
    bounds = {"max_words": 100, "filter": False}
    lines, _, record = rejects(tmp_path, *pairs, **bounds)
    assert lines == []
    assert record["rows_out"] == len(pairs) == 6003
    _, _, filtered = rejects(tmp_path, *pairs, **bounds | {"filter": True})
    assert record["extra"]["passed"] == filtered["rejected"]


def test_of_a_long_text_the_start_is_listed(tmp_path):
    ((*_, source, reference),), _, _ = rejects(tmp_path, ("ř" * 300, "a\tb" + "c" * 300))
    assert source == "ř" * 200
    assert reference == "a b" + "c" * 197  # as it was normalised


def test_other_charsets_let_the_euro_and_names_pass(tmp_path):
    charset = {"source": None, "reference": "iso8859-15"}
    lines, characters, _ = rejects(tmp_path, ("5 eur", "5 € ž"), ("ř", "Dvořák"), charset=charset)
    assert [line[:3] for line in lines] == [["c:2", "charset_reference", "ř U+0159"]]
    assert characters == {"reference": {"ř": 1}}


def test_without_a_charset_every_character_passes():
    charset = {"source": None, "reference": "utf-8"}
    assert reasons(("Привет 世界", "Γειά \u4e16"), charset=charset) == [None]
    assert reasons(("Привет", "hello \ufffd"), charset=charset) == ["charset_reference"]


def test_the_first_of_equal_pairs_that_passes_is_kept():
    pairs = [
        ("Ahoj, světe\x96", "Hello, world!"),
        ("Ahoj, světe!", "Hello, world!"),
        ("AHOJ sve\u030cte", "hello\u2014world"),
        ("Ahoj, světe!", "Hello, worlds!"),
        ("Ahoj s. 10", "page 1 0"),
        ("Ahoj s 1-0", "Page 10"),
    ]
    assert reasons(*pairs) == ["charset_source", None, "duplicate", None, None, "duplicate"]


def test_a_pair_is_not_a_duplicate_when_only_the_border_of_its_sides_agrees():
    assert reasons(("ab", "c"), ("a", "bc")) == [None, None]


def shard(folder, corpus, pairs):
    path = folder / f"{corpus}.parquet"
    return write_table(
        path,
        PairRow,
        (row(*pair, corpus=corpus, number=number) for number, pair in enumerate(pairs, 1)),
    )


def test_corpora_that_come_first_win_and_all_are_counted(tmp_path):
    test = shard(tmp_path, "test", [("Pes spí.", "The dog sleeps."), ("Kočka", "1")])
    train = shard(tmp_path, "train", [("pes spí", "the dog sleeps"), ("„Pes“ jí…", "A dog’s life")])
    output = tmp_path / "out" / "0000.parquet"
    run_clean([test, train], ["test", "train"], output)
    assert list(read_rows(output, PairRow)) == [
        row("Pes spí.", "The dog sleeps.", "test", 1),
        row('"Pes" jí...', "A dog's life", "train", 2),
    ]
    record = verify(output)
    assert (record["rows_in"], record["rows_out"]) == (4, 2)
    assert record["rejected"] == {"no_letters": 1, "duplicate": 1}
    assert record["extra"]["corpora"] == {
        "test": {"in": 2, "out": 1, "no_letters": 1},
        "train": {"in": 2, "out": 1, "duplicate": 1},
    }
    first = output.read_bytes()
    run_clean([test, train], ["test", "train"], output)
    assert output.read_bytes() == first


def test_inputs_that_are_not_the_corpora_are_refused(tmp_path):
    one, two = shard(tmp_path, "one", [("a", "b")]), shard(tmp_path, "two", [("c", "d")])
    with pytest.raises(InputError, match=r"pairs of corpus 'two' where 'one' is expected"):
        run_clean([two, one], ["one", "two"], tmp_path / "out.parquet")
    with pytest.raises(InputError, match=r"1 --pairs for the 2 corpora"):
        run_clean([one], ["one", "two"], tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


texts = st.text(st.characters(exclude_characters="\n\x00", exclude_categories=["Cs"])) | st.text(
    st.sampled_from("abCŘ1 .,„“’\u00ad\u200b\u00a0\x85\x96")
)


@pytest.mark.slow
@given(st.lists(st.tuples(texts, texts), max_size=30))
def test_any_text_is_kept_normalised_or_rejected(pairs):
    config = {**CONFIG, "charset": {"source": "utf-8", "reference": "latin-1"}}
    judged = list(clean_pairs([row(*pair) for pair in pairs], config))
    assert len(judged) == len(pairs)
    for pair, reason in judged:
        if reason is None:
            pair["reference"].encode("latin-1")
            assert 1 <= len(pair["source"].split()) <= 10
    kept = [pair for pair, reason in judged if reason is None]
    assert [reason for _, reason in clean_pairs(kept, config)] == [None] * len(kept)


def test_sharding_changes_no_decision():
    pairs = [
        (f"{'Á' if n % 3 else 'á'} věta {n % 40}{'!' * (n % 2)}", f"sentence\u2014{n % 40}")
        for n in range(200)
    ]
    whole = [pair for pair, why in clean_pairs([row(*p) for p in pairs], CONFIG) if why is None]
    for shards in (2, 5):
        kept = []
        for number in range(shards):
            rows = [row(*pair) for pair in pairs if shard_of(*pair, shards) == number]
            kept += [pair for pair, why in clean_pairs(rows, CONFIG) if why is None]
        assert sorted(kept, key=str) == sorted(whole, key=str)
    assert len(whole) == 40
