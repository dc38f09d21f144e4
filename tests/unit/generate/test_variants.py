"""Choices of words by name; the worked example of ParaBank (Hu et al., AAAI 2019, 3.2, Table 2)."""

import csv
from collections import Counter

import numpy as np
import pytest

from tests.configs import run_on_testbed
from tests.tables import write_frequencies
from tests.unit.generate.test_idf import count, write_pairs
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.generate.checks import PREPOSITIONS
from workflow_scripts.stages.generate.constraint_words import words_of
from workflow_scripts.stages.generate.idf import read_idf
from workflow_scripts.stages.generate.ppdb import Paraphrases, Rule
from workflow_scripts.stages.generate.spare import Spare
from workflow_scripts.stages.generate.tokenizer import splitter
from workflow_scripts.stages.generate.variants import Variants, choose, set_maker

REFERENCE = "I told her I was proud to work for them."
PRESETS = run_on_testbed()["systems"]["parabank"]["constraints"]["variants"]
# Table 2 of the paper: all tokens in lower case, and those of them that can be chosen.
TABLE_2 = {
    **{"proud": 11.1, "told": 7.9, "work": 7.4, "them": 6.2},
    **{"her": 5.8, "was": 4.3, "for": 3.6, "to": 2.3},
}
IDF = {word: TABLE_2[word] for word in ("proud", "told", "work", "for", "to")}


def letters(text):
    return [piece for word in text.split() for piece in ("▁" + word[0], *word[1:])]


def make(variants, idf=None, paraphrases=None, seed=1, spare=None, tag=None, without="skip"):
    paraphrases = paraphrases or Paraphrases()
    constraints = {"variants": variants, "without_words": without, "language": "en"}
    return Variants(constraints, seed, letters, idf or IDF, paraphrases, Spare(spare or {}), tag)


def sets_of(variant, reference=REFERENCE, identifier="c:1", **options):
    return make({"v": variant}, **options).sets(reference, identifier)


def negative(**choice):
    return {"kind": "negative", "choose": choice}


def positive(**choice):
    return {"kind": "positive", "choose": choice}


# Table 3 of the paper, of the words of Table 2. Those of 22 to 27 are random, and so are the forms
# of verbs in 30 and 31.
TABLE_3 = {
    **{"s01": ["proud"], "s02": ["told"], "s03": ["work"]},
    **{"s04": ["proud", "told"], "s05": ["told", "work"], "s06": ["proud", "work"]},
    **{"s07": ["proud", "told", "work"]},
    **{"s15": ["to"], "s16": ["for"], "s17": ["work"]},
    **{"s18": ["to", "for"], "s19": ["for", "work"], "s20": ["to", "work"]},
    **{"s21": ["to", "for", "work"], "s28": []},
    **{"s32": ["<s> I"], "s33": ["<s> I told"], "s34": ["<s> I told her"]},
}
LEXICAL = {f"s{number + 7:02d}": TABLE_3[f"s{number:02d}"] for number in range(1, 8)}


@pytest.mark.parametrize(("name", "avoid"), (TABLE_3 | LEXICAL).items())
def test_negative_systems_choose_as_table_3_says(name, avoid):
    (found,) = (each for each in make(PRESETS).sets(REFERENCE, "c:1") if each.variant == name)
    assert (found.avoid, found.want) == (avoid, [])
    if name in LEXICAL:
        assert found.spellings > set(avoid)


@pytest.mark.parametrize(("name", "count"), [("s22", 1), ("s24", 3), ("s25", 1), ("s27", 3)])
def test_random_systems_choose_so_many_words(name, count):
    (found,) = (each for each in make(PRESETS).sets(REFERENCE, "c:1") if each.variant == name)
    assert len(set(found.avoid)) == count and set(found.avoid) <= IDF.keys()
    # Beside each word and its capitalised form.
    assert (len(found.spellings) > 2 * count) == (name in ("s25", "s27"))


def test_positive_systems_want_the_word_or_another_form_of_a_verb():
    made = make(PRESETS)
    wanted = {"s29": set(), "s30": set(), "s31": set()}
    for number in range(40):
        for each in made.sets(REFERENCE, f"c:{number}"):
            if each.variant in wanted:
                assert not each.avoid and not each.phrases
                wanted[each.variant] |= set(each.want)
    assert wanted == {
        "s29": {"proud"},
        "s30": {"tell", "tells", "telling"},
        "s31": {"works", "worked", "working"},
    }


def test_each_preset_has_one_set_here_and_they_differ():
    found = make(PRESETS).sets(REFERENCE, "c:1")
    assert [each.variant for each in found] == [f"s{number:02d}" for number in range(1, 35)]
    fixed = {}
    for each in found:
        if "random" not in (PRESETS[each.variant] or {"choose": {}})["choose"]:
            fixed.setdefault((each.phrases, tuple(each.wanted)), []).append(each.variant)
    # Of five words the third is in the middle.
    assert [names for names in fixed.values() if len(names) > 1] == [["s03", "s17"]]


def test_a_reference_with_too_few_words_has_those_of_them_or_no_constraints():
    made = make(PRESETS, without="free")
    found = {each.variant: each for each in made.sets("so proud to see it", "c:1")}
    assert len(found) == 34
    assert found["s06"].avoid == found["s04"].avoid[:1] == ["proud"]
    assert found["s07"].avoid == ["proud", "to"]
    for name in ("s03", "s05", "s17", "s28", "s31"):
        expected = {"s05": ["to"]}.get(name, [])
        assert (found[name].avoid, found[name].want) == (expected, [])
    skipped = {each.variant for each in make(PRESETS).sets("so proud to see it", "c:1")}
    assert found.keys() - skipped == {"s03", "s10", "s17", "s31"}


def test_candidates_are_in_the_order_of_their_idf_from_bounds_and_exemptions(tmp_path):
    # As counts of 2^24 references; "I" is no lower-case word.
    values = sorted((TABLE_2 | {"I": 1.2}).items())
    frequencies = {word: round(2 ** (24 - value)) for word, value in values}
    path = write_frequencies(tmp_path / "idf.parquet", frequencies, 2**24)
    config = run_on_testbed()
    constraints = config["systems"]["parabank"]["constraints"]
    assert constraints["idf"]["bounds"] == [7.0, 17.0]
    assert len(constraints["idf"]["exempt"]) == 14
    everything = {"all": {"kind": "negative", "choose": {"highest": 99}}}
    make_sets = set_maker({**constraints, "variants": everything}, 1, letters, path)
    (found,) = make_sets(REFERENCE, "c:1")
    assert found.avoid == ["proud", "told", "work", "for", "to"]
    sets = set_maker(constraints, 1, letters, path)(REFERENCE, "c:1")
    avoid = {each.variant: each.avoid for each in sets}
    assert avoid["s07"] == ["proud", "told", "work"]
    assert avoid["s21"] == ["to", "for", "work"]
    with pytest.raises(InputError, match="--idf"):
        set_maker(constraints, 1, letters, None)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"highest": 2}, ["a", "b"]),
        ({"lowest": 2}, ["e", "d"]),
        ({"highest": 1, "lowest": 1}, ["a", "e"]),
        ({"highest": 3, "lowest": 3}, ["a", "b", "c", "e", "d"]),
        ({"highest": 9}, ["a", "b", "c", "d", "e"]),
        ({"highest": [2]}, ["b"]),
        ({"highest": [1, 3], "lowest": [2]}, ["a", "c", "d"]),
        ({"lowest": [3, 9]}, ["c"]),
        ({"highest": [6]}, []),
    ],
)
def test_highest_then_lowest_of_the_rest(counts, expected):
    assert choose(list("abcde"), counts, np.random.default_rng(1)) == expected


def test_random_choices_are_uniform_over_the_rest():
    random = np.random.default_rng(1)
    drawn = Counter(
        word
        for _ in range(3000)
        for word in choose(list("abcde"), {"highest": 1, "random": 2}, random)[1:]
    )
    assert set(drawn) == set("bcde")
    assert all(abs(count - 1500) < 110 for count in drawn.values())
    assert choose([], {"random": 2}, random) == []


def test_random_choices_follow_from_seed_id_and_name():
    def found(seed=1, identifier="c:1", name="v"):
        return make({name: negative(random=2)}, seed=seed).sets(REFERENCE, identifier)[0].avoid

    assert found() == found()
    for changes in ({"seed": 2}, {"identifier": "c:2"}, {"name": "w"}):
        assert any(
            found(**{"identifier": f"c:{n}"} | changes) != found(identifier=f"c:{n}")
            for n in range(2, 9)
        )


def test_negative_inflected_forbids_all_forms_capitalised_too():
    (found,) = sets_of(negative(highest=2) | {"inflect": True})
    assert found.avoid == ["proud", "told"]
    forms = {"proud", "prouder", "proudest", "tell", "tells", "telling", "told"}
    assert found.spellings == forms | {form.capitalize() for form in forms}


def test_punctuation_before_a_word_is_part_of_a_forbidden_sequence_too():
    (found,) = sets_of(negative(highest=1), reference='They were "proud" of it. Proud!')
    expected = {"proud", "Proud", '"proud', '"Proud'}
    assert found.phrases == {tuple(letters(form)) for form in expected}


def test_positive_inflected_wants_another_form_of_verbs_and_other_words_as_they_are():
    verbs = positive(highest=3) | {"inflect": "verb"}
    found = [sets_of(verbs, identifier=f"c:{n}")[0] for n in range(60)]
    assert {each.want[0] for each in found} == {"proud"}
    assert {each.want[1] for each in found} == {"tell", "tells", "telling"}
    assert {each.want[2] for each in found} == {"works", "worked", "working"}
    assert all(each.wanted == [tuple(letters(word)) for word in each.want] for each in found)
    assert not found[0].phrases


def nouns(*words):
    return lambda sentence: {word: frozenset({"NOUN"}) for word in words}


def test_a_tagger_tells_verbs_from_other_words():
    verbs = positive(highest=3) | {"inflect": "verb"}
    for number in range(10):
        (found,) = sets_of(verbs, identifier=f"c:{number}", tag=nouns("work"))
        # "told" has no tag: the dictionary knows it as a verb.
        assert found.want[2] == "work" and found.want[1] in ("tell", "tells", "telling")


def test_a_tagger_tells_which_forms_a_word_has():
    (found,) = sets_of(negative(highest=[3]) | {"inflect": True}, tag=nouns("work"))
    assert found.spellings == {"work", "Work", "works", "Works"}
    (found,) = sets_of(negative(highest=[3]) | {"inflect": True})
    assert found.spellings > {"working", "worked"}


@pytest.mark.parametrize(
    ("reference", "count", "forms"),
    [
        (REFERENCE, 2, {"I told", "i told"}),
        ('"Yes," he said.', 2, {'"Yes'}),
        ("We don't know", 2, {"We do", "we do", "We don't", "we don't"}),
        ("dogs bark", 2, {"dogs bark", "Dogs bark"}),
    ],
)
def test_first_tokens_are_forbidden_at_the_start(reference, count, forms):
    (found,) = sets_of(negative(first=count), reference=reference)
    assert found.phrases == {("<s>", *letters(form)) for form in forms}
    assert not found.spellings


@pytest.mark.parametrize("block", [None, {"v": negative(first=2)}])
def test_words_that_are_written_otherwise_at_the_start_are_forbidden_there_too(block):
    random = {
        **{"kind": "negative", "choose": "random", "sets": 1, "fraction": [1.0, 1.0]},
        "case": True,
    }
    config = {"variants": block, "language": "en"} if block else random
    (found,) = set_maker(config, 1, letters, None, list)("I told", "c:1")
    forms = {"I told", "i told"} if block else {"I", "i", "told", "Told"}
    written = {("<s>", *form) for form in forms}
    inside = {(*("<s>",) * bool(block), *letters(form)) for form in forms}
    assert found.phrases == written | inside


RATINGS = "parabank_ratings"
# Of these the words follow from their IDF.
BY_IDF = {f"s{number:02d}": PRESETS[f"s{number:02d}"] for number in range(1, 22)}


def rows(path):
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


@pytest.mark.slow
def test_released_outputs_lack_the_words_that_are_cut_out_of_others(data_dir, tmp_path):
    # Other training data than the authors' give other ranks: references without hyphens and
    # apostrophes tell how often their outputs lack the word that is ours.
    texts = sorted((data_dir / "newstest_cs_en").glob("*.en"))
    lines = [("a", line) for text in texts for line in text.read_text("utf-8").splitlines()]
    write_pairs(tmp_path, [lines])
    bounds = {"bounds": [7.0, 17.0], "min_references": 1, "exempt": sorted(PREPOSITIONS)}
    made = make(BY_IDF, idf=read_idf(count(tmp_path, ["a"], 1), bounds))
    outputs = {
        (row["ref_id"], f"s{int(number):02d}"): row["candidate"]
        for row in rows(data_dir / RATINGS / "candidates.tsv")
        for number in row["sys_id"].split()
    }
    plain, whole, inside = [], [], {}
    for row in rows(data_dir / RATINGS / "ref.tsv"):
        words = {word.text for word in words_of(row["ref_sent"])}
        without = all(map(str.isalnum, words))
        for each in made.sets(row["ref_sent"], row["ref_id"]):
            text = outputs[row["ref_id"], each.variant]
            written = {word.text.lower() for word in words_of(text, splitter("en"))}
            lacking = {word: word not in written for word in each.avoid}
            (plain if without else whole).extend(lacking.values())
            cut_out = [lacking[word] for word in lacking.keys() - words]
            inside.setdefault(row["ref_id"], []).extend(cut_out)
    inside = [found for found in inside.values() if found]
    share = np.mean(plain)
    assert share > 0.7 and np.mean(whole) >= share
    assert len(inside) > 15 and np.mean(np.concatenate(inside)) >= share


def pairs():
    found = Paraphrases()
    for rule in (
        Rule("told", "work", 9.0, "Equivalence"),
        Rule("told", "informed", 5.0, "Equivalence"),
        Rule("told", "advised", 4.0, "Equivalence"),
        Rule("proud", "glad", 1.0, "Equivalence"),
        Rule("work", "labour", 1.0, "ForwardEntailment"),
    ):
        found.add(rule)
    return found


def test_a_pair_forbids_a_word_and_wants_its_best_paraphrase_that_is_new():
    variant = {"kind": "pair", "choose": {"highest": 3}, "relations": ["Equivalence"]}
    found = sets_of(variant, paraphrases=pairs())
    assert [(each.avoid, each.want) for each in found] == [
        (["proud"], ["glad"]),
        (["told"], ["informed"]),
    ]
    assert [each.spellings for each in found] == [{"proud", "Proud"}, {"told", "Told"}]
    forward = variant | {"relations": ["ForwardEntailment"]}
    assert [each.want for each in sets_of(forward, paraphrases=pairs())] == [["labour"]]


def test_a_pair_has_a_paraphrase_of_the_same_part_of_speech():
    found = Paraphrases()
    found.add(Rule("work", "labours", 9.0, "Equivalence", "NOUN"))
    found.add(Rule("work", "toil", 1.0, "Equivalence", "VERB"))
    variant = {"kind": "pair", "choose": {"highest": 3}, "relations": ["Equivalence"]}
    (best,) = sets_of(variant, paraphrases=found)
    (verb,) = sets_of(variant, paraphrases=found, tag=lambda _: {"work": frozenset({"VERB"})})
    assert (best.want, verb.want) == (["labours"], ["toil"])
    assert sets_of(variant, paraphrases=found, tag=lambda _: {"work": frozenset({"ADJ"})}) == []


def test_a_random_paraphrase_is_any_that_is_new_and_each_word_has_its_own_set():
    variant = {
        **{"kind": "pair", "choose": {"highest": 99}, "paraphrase": "random"},
        "relations": ["Equivalence"],
    }
    drawn = Counter()
    for number in range(200):
        sets = sets_of(variant, paraphrases=pairs(), identifier=f"c:{number}")
        assert [each.avoid for each in sets] == [["proud"], ["told"]]
        drawn[sets[1].want[0]] += 1
    assert drawn.keys() == {"informed", "advised"} and min(drawn.values()) > 70


@pytest.mark.parametrize("without", ["skip", "free"])
def test_a_reference_without_a_pair_has_no_set_of_pairs(without):
    variants = {"word": negative(highest=1), "pair": {"kind": "pair", "choose": {"highest": 9}}}
    found = make(variants, without=without).sets(REFERENCE, "c:1")
    assert [each.variant for each in found] == ["word"]


def test_a_variant_without_a_word_has_no_set():
    variants = {"free": None, "word": negative(highest=1), "start": negative(first=3)}
    found = make(variants).sets("Well done", "c:1")
    assert [each.variant for each in found] == ["free"]


@pytest.fixture(params=["own", "real"])
def word_list(request, tmp_path):
    if request.param == "real":
        return request.getfixturevalue("data_dir") / "ppdb_xl_lexicon" / "ppdb-xl.txt"
    path = tmp_path / "words.txt"
    path.write_text("sold vended\nhouses homes\nbought purchased got\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_word_list_names_pairs(word_list, tmp_path):
    write_pairs(tmp_path, [[("a", "the man bought houses"), ("a", "the man"), ("a", "the")]])
    constraints = {
        "language": "en",
        "idf": {"bounds": [1.0, 17.0], "min_references": 1, "exempt": []},
        "pairs": {"list": str(word_list)},
        "variants": {"ppdb": {"kind": "pair", "choose": {"highest": 2}}},
    }
    make_sets = set_maker(constraints, 1, letters, count(tmp_path, ["a"], 1))
    found = make_sets("The man bought houses.", "c:1")
    assert [(each.variant, each.avoid) for each in found] == [
        ("ppdb", ["bought"]),
        ("ppdb", ["houses"]),
    ]
    assert all(len(each.want) == 1 and each.want != each.avoid for each in found)


def test_spared_words_are_never_forbidden_but_can_be_wanted():
    spare = {"words": ["Proud", "to"]}
    ((proud, *rest),) = (each.want for each in sets_of(positive(highest=1), spare=spare))
    assert (proud, rest) == ("proud", [])
    (found,) = sets_of(negative(highest=9), spare=spare)
    assert found.avoid == ["told", "work", "for"]
    rules = Paraphrases()
    for word in IDF:
        rules.add(Rule(word, "other", 1.0, None))
    sets = sets_of({"kind": "pair", "choose": {"highest": 9}}, paraphrases=rules, spare=spare)
    assert [each.avoid for each in sets] == [["told"], ["work"], ["for"]]


def test_a_spared_form_of_a_forbidden_word_is_not_forbidden():
    inflected = negative(highest=1) | {"inflect": True}
    idf = {"work": 7.2}
    (found,) = sets_of(inflected, idf=idf)
    (other,) = sets_of(inflected, idf=idf, spare={"words": ["works"]})
    assert found.spellings - other.spellings == {"works", "Works"}
    assert other.spellings < found.spellings
