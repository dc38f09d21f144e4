import gzip
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.lexicon.measures_data import (
    Listed,
    Rule,
    is_scored,
    name_of,
    read_antonyms,
    read_rules,
    read_word_pairs,
)

PPDB = "[NN] ||| Car ||| automobile ||| PPDB2.0Score=4.5 PPDB1.0Score=2 ||| 0-0 ||| Equivalence\n"


def _written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_word_pairs_with_tabs_or_blanks(tmp_path: Path) -> None:
    tabs = _written(tmp_path, "b.txt", "Sun\tsunlight\t50.0\r\nNew York\ttown\t3\r\n")
    blanks = _written(tmp_path, "a.txt", "gem  jewel 3.94\n\ncord smile .02\n")
    first, second = read_word_pairs([tabs, blanks])
    assert (first.name, first.pairs) == ("a", (("gem", "jewel"), ("cord", "smile")))
    assert first.scores == (3.94, 0.02)
    assert second.pairs == (("sun", "sunlight"), ("new york", "town"))
    assert second.scores == (50.0, 3.0)


def test_a_header_a_bom_and_a_last_line_without_line_feed(tmp_path: Path) -> None:
    path = _written(tmp_path, "x.tsv", "\ufeffword1\tword2\tscore\na\tb\t1\nc\td\t2")
    (data_set,) = read_word_pairs([path])
    assert (data_set.pairs, data_set.scores) == ((("a", "b"), ("c", "d")), (1.0, 2.0))


def test_a_word_with_itself_is_left_out_and_repeated_pairs_stay(tmp_path: Path) -> None:
    path = _written(tmp_path, "x.txt", "tiger Tiger 10\nmoney cash 9.15\nmoney cash 9.08\na b 1\n")
    (data_set,) = read_word_pairs([path])
    assert data_set.same == 1
    assert data_set.pairs == (("money", "cash"), ("money", "cash"), ("a", "b"))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a b 1\nc d NaN\n", "line 2"),
        ("a\tb\tnan\n", "line 1"),
        ("a\tb\tinf\nc\td\t1\n", "line 1"),
        ("a b 1\nc d 1e999\n", "line 2"),
        ("a b 1\nc d\n", "line 2"),
        ("a b 1\nc d 2 3\n", "line 2"),
        ("a\t\t1\nc\td\t1\n", "line 1"),
        ("a,b,1\nc,d,2\n", "line 1"),
        ("a b 1\nx y z\n", "line 2"),  # a header stands first
        ("word1 word2 POS SimLex999\nold new A 1.58\n", "line 1"),
        ("a b ١\nc d 2\n", "line 1"),
    ],
)
def test_lines_of_another_form_are_named(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(InputError, match=f"x.txt, {where}: not of the form word, word, score"):
        read_word_pairs([_written(tmp_path, "x.txt", text)])


def test_too_few_pairs_and_equal_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 pairs of two words"):
        read_word_pairs([_written(tmp_path, "x.txt", "a a 1\na b 2\n")])
    with pytest.raises(InputError, match="line 2 is not UTF-8"):
        read_word_pairs([_written(tmp_path, "y.txt", b"a b 1\n\xff c 2\n")])
    (tmp_path / "f").mkdir()
    one, other = (
        _written(folder, "z.txt", "a b 1\nc d 2\n") for folder in (tmp_path, tmp_path / "f")
    )
    with pytest.raises(InputError, match="both the set z; rename one"):
        read_word_pairs([one, other])


def test_files_that_tell_of_the_others_are_left_out(tmp_path: Path) -> None:
    paths = [_written(tmp_path, name, "not pairs\n") for name in ("SOURCE", "README.md", "LICENSE")]
    assert read_word_pairs(paths) == []


def test_rules_of_ppdb_and_of_a_list(tmp_path: Path) -> None:
    ppdb = _written(tmp_path, "ppdb.gz", gzip.compress(PPDB.encode()))
    plain = _written(tmp_path, "list.txt", "Fawn crawl fawn\n\nbig large huge\n")
    assert is_scored(ppdb) and not is_scored(plain)
    assert list(read_rules(ppdb)) == [Rule("car", "automobile", 4.5)]
    assert list(read_rules(plain)) == [
        Rule("fawn", "crawl", None),
        Rule("big", "large", None),
        Rule("big", "huge", None),
    ]


def test_a_rule_of_ppdb_with_several_words(tmp_path: Path) -> None:
    line = "[VP] ||| give up ||| surrender ||| PPDB2.0Score=3.1 ||| 0-0 ||| Equivalence\n"
    path = _written(tmp_path, "ppdb-phrasal", line)
    assert list(read_rules(path)) == [Rule("give up", "surrender", 3.1)]


def test_hostile_files_of_paraphrases(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing in it"):
        list(read_rules(_written(tmp_path, "a", "")))
    with pytest.raises(InputError, match=r"line 2: '\|\|\|' is of PPDB's format"):
        list(read_rules(_written(tmp_path, "b", "big large\n" + PPDB)))
    with pytest.raises(InputError, match="line 2: no rule of PPDB"):
        list(read_rules(_written(tmp_path, "c", PPDB + "big large\n")))
    with pytest.raises(InputError, match="line 1: no rule of PPDB"):
        list(read_rules(_written(tmp_path, "d", PPDB.replace("=4.5", "=nan"))))


def test_listed_keeps_what_is_asked_for(tmp_path: Path) -> None:
    text = PPDB + PPDB.replace("4.5", "5.5") + PPDB.replace("Car", "bus")
    listed = Listed(_written(tmp_path, "ppdb-2.0-s.txt", text), {"car", "automobile"})
    assert listed.scores == {("car", "automobile"): 5.5}
    assert listed.knows("car") and not listed.knows("automobile") and not listed.knows("bus")
    assert listed.has("car", "automobile") and listed.has("automobile", "car")
    assert (listed.name, listed.scored) == ("ppdb-2.0-s", True)


def test_files_are_called_by_their_names_without_endings() -> None:
    names = ["ppdb-2.0-xl-lexical.gz", "ppdb-xl.txt", "glove.6B.300d.txt.xz", ".txt"]
    called = [name_of(Path(name)) for name in names]
    assert called == ["ppdb-2.0-xl-lexical", "ppdb-xl", "glove.6B.300d", ".txt"]


def test_antonyms_have_no_order(tmp_path: Path) -> None:
    path = _written(tmp_path, "a.txt", "Females males \nfemales males\nmales females\n")
    assert read_antonyms([path]) == {frozenset({"females", "males"})}
    with pytest.raises(InputError, match="line 1: 3 words"):
        read_antonyms([_written(tmp_path, "b.txt", "hot cold warm\n")])
    with pytest.raises(InputError, match=r"c\.txt: no antonyms in it"):
        read_antonyms([path, _written(tmp_path, "c.txt", "\n")])
