import gzip
import random
import unicodedata

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.generate.ppdb import MOST, Paraphrases, Rule, read_paraphrases


def rule(word, paraphrase, score, relation, category="[VBD]"):
    features = f"PPDB1.0Score=1.0 PPDB2.0Score={score} Abstract=0"
    return f"{category} ||| {word} ||| {paraphrase} ||| {features} ||| 0-0 ||| {relation}\n"


PPDB = (
    rule("told", "said", 4.5, "ForwardEntailment")
    + rule("told", "informed", 3.25, "Equivalence")
    + rule("told", "advised", 4.0, "Equivalence")
    + rule("told", "informed", 4.75, "Equivalence", "[VBN]")
    + rule("told", "Told", 9.0, "Equivalence")
    + rule("told", "told", 9.0, "Equivalence")
    + rule("proud", "well-pleased", 9.0, "Equivalence")
    + rule("other", "else", 9.0, "Equivalence")
)


@pytest.fixture(params=["ppdb.txt", "ppdb.gz"])
def ppdb(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(gzip.compress(PPDB.encode()) if path.suffix == ".gz" else PPDB.encode())
    return path


def test_rules_of_ppdb_by_relation_best_first(ppdb):
    found = read_paraphrases("ppdb", ppdb, {"told", "proud"})
    assert found.of("told", ["Equivalence"]) == ["informed", "advised"]
    assert found.of("told", ["ForwardEntailment"]) == ["said"]
    both = found.of("told", ["ForwardEntailment", "Equivalence"])
    assert both == ["informed", "said", "advised"]
    assert found.of("told", ["Exclusion"]) == found.of("told", None) == []
    assert found.of("proud", ["Equivalence"]) == found.of("other", ["Equivalence"]) == []


def test_a_plain_list_is_in_the_order_of_its_lines(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("told informed advised\n\ntold said\nproud 2 Glad pleased\n", encoding="utf-8")
    found = read_paraphrases("list", path, {"told", "proud"})
    assert found.of("told", None) == ["informed", "said", "advised"]
    assert found.of("proud", None) == ["pleased"]


def test_accents_apart_from_their_letters_are_the_same(tmp_path):
    path = tmp_path / "list.txt"
    line = unicodedata.normalize("NFD", "tr\u00e8s \u00e9norm\u00e9ment\n")
    path.write_text(line, encoding="utf-8")
    found = read_paraphrases("list", path, {"tr\u00e8s"})
    assert found.of("tr\u00e8s", None) == ["\u00e9norm\u00e9ment"]


def test_the_best_are_kept_whatever_the_order():
    scores = range(4 * MOST + 90)
    rules = [Rule("a", f"b{score % 90}", float(score), "Equivalence") for score in scores]
    random.Random(1).shuffle(rules)
    found = Paraphrases()
    for each in rules:
        found.add(each)
    best = [f"b{number % 90}" for number in range(4 * MOST + 89, 4 * MOST + 89 - MOST, -1)]
    assert found.of("a", ["Equivalence"]) == best


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("ppdb", PPDB + "told said informed\n", "line 9: no rule of PPDB 2.0"),
        ("ppdb", PPDB.replace("PPDB2.0Score=4.5", "PPDB1.0Score=4.5"), "line 1: no rule"),
        *(
            ("ppdb", PPDB.replace("=4.0 ", f"={score} "), "line 3: no rule .* finite")
            for score in ("nan", "inf", "-inf", "1e999", "1_0", "")
        ),
        ("list", PPDB, "line 1: .*'ppdb'"),
        ("list", "caf\udce9 coffee\n", "line 1: not UTF-8"),
    ],
)
def test_bad_lines_are_named(tmp_path, kind, text, message):
    path = tmp_path / "words.txt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=message):
        read_paraphrases(kind, path, {"told"})


@pytest.mark.slow
def test_a_real_word_list(data_dir):
    path = data_dir / "ppdb_xl_lexicon" / "ppdb-xl.txt"
    found = read_paraphrases("list", path, {"proud", "told", "bought", "houses"})
    assert all(found.of(word, None) for word in ("proud", "told", "bought", "houses"))
    assert "purchased" in found.of("bought", None)


def test_paraphrases_by_part_of_speech_of_the_rule(ppdb):
    found = read_paraphrases("ppdb", ppdb, {"told"})
    verb, noun = frozenset({"VERB"}), frozenset({"NOUN"})
    assert found.of("told", ["Equivalence"], verb) == ["informed", "advised"]
    assert found.of("told", ["Equivalence"], noun) == []


def test_all_paraphrases_are_kept_where_any_may_be_drawn():
    found = Paraphrases(most=None)
    for number in range(5 * MOST):
        found.add(Rule("a", f"b{number}", float(number), "Equivalence"))
    assert len(found.of("a", ["Equivalence"])) == 5 * MOST
