import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.embed.sts_readers import KNOWN, missing, read_data_sets


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return folder


SEMEVAL = {
    "STS2012-test/STS.input.MSRpar.txt": 'A "b.\tC d.\nE\tF\n',
    "STS2012-test/STS.gs.MSRpar.txt": "4.4\n0\n",
    "sts13/STS.input.OnWN.txt": "a\tb\nc\td\ne\tf\n",
    "sts13/STS.gs.OnWN.txt": "1\n\n2.5\n",
    "2014/test/STS.input.OnWN.txt": "a\u2028a\tb\r\n",
    "2014/test/STS.gs.OnWN.txt": "3\r\n",
    "sixteen/STS2016.input.headlines.txt": "a\tb\tsource\tsource\n",
    "sixteen/STS2016.gs.headlines.txt": "5\n",
    "eval.v1.1/STS.input.track5.en-en.txt": "a\tb\n",
    "eval.v1.1/STS.input.track1.ar-ar.txt": "x\ty\n",
    "gold/STS.gs.track5.en-en.txt": "2\n",
    "gold/STS.gs.track1.ar-ar.txt": "2\n",
    "readme.txt": "Some words\n",
}


def test_semeval_is_read_by_year_with_blank_scores_left_out(tmp_path):
    found = {each.name: each for each in read_data_sets([write(tmp_path, SEMEVAL)])}
    assert list(found) == [
        *("2012.MSRpar", "2013.OnWN", "2014.OnWN", "2016.headlines", "2017.track5.en-en")
    ]
    assert found["2012.MSRpar"].pairs == (('A "b.', "C d."), ("E", "F"))
    assert found["2012.MSRpar"].scores == (4.4, 0.0)
    assert found["2013.OnWN"].pairs == (("a", "b"), ("e", "f"))
    assert found["2013.OnWN"].scores == (1.0, 2.5)
    assert found["2013.OnWN"].unscored == 1
    # Only a line feed ends a line.
    assert found["2014.OnWN"].pairs == (("a\u2028a", "b"),)
    assert found["2016.headlines"].pairs == (("a", "b"),)


def test_tracks_of_the_language_asked_for_are_read(tmp_path):
    found = read_data_sets([write(tmp_path, SEMEVAL)], language="ar")
    assert "2017.track1.ar-ar" in {each.name for each in found}
    assert "2017.track5.en-en" not in {each.name for each in found}


@pytest.mark.parametrize(
    "place",
    [
        "{year}/{name}/STS.{name}.headlines.txt",
        "{name}/{year}/STS.{name}.headlines.txt",
        "STS{year}.{name}.headlines.txt",
    ],
)
def test_gold_is_that_of_the_same_year(tmp_path, place):
    files = {
        place.format(year=year, name=name): text
        for year, score in (("2013", "1"), ("2014", "2"))
        for name, text in (("input", "x\ty\n"), ("gs", f"{score}\n"))
    }
    found = read_data_sets([write(tmp_path, files)])
    assert {each.name: each.scores for each in found} == {
        "2013.headlines": (1.0,),
        "2014.headlines": (2.0,),
    }


def test_the_year_is_not_that_of_a_folder_above_the_path(tmp_path, monkeypatch):
    names = ("STS.input.a.txt", "STS.gs.a.txt")
    files = {f"user12/{folder}/{name}": "1\tb\n" for folder in ("sts/13", "own") for name in names}
    home = write(tmp_path, files) / "user12"

    def groups(*paths):
        return [each.group for each in read_data_sets(paths)]

    assert groups(home / "own") == ["own"]
    assert groups(home / "sts") == ["2013"]
    assert groups(home / "sts" / "13") == ["2013"]
    monkeypatch.chdir(home)
    assert groups("own") == ["own"]
    assert groups("sts/13") == ["2013"]


def test_sts_benchmark(tmp_path):
    rows = [
        "main-news\tMSRpar\t2012test\t0001\t3.8\tA man.\tThe man.",
        'main-forums\tdeft\t2014\t0002\t0.5\tOne "\tTwo\tsource\tsource',
    ]
    write(tmp_path, {"sts-dev.csv": "\n".join(rows) + "\n", "sts-test.csv": rows[0]})
    dev, test = read_data_sets([tmp_path])
    assert [dev.name, test.name] == ["stsbenchmark.dev", "stsbenchmark.test"]
    assert dev.group == "stsbenchmark"
    assert dev.scores == (3.8, 0.5)
    assert dev.pairs == (("A man.", "The man."), ('One "', "Two"))


def test_sick_in_one_file_or_in_three(tmp_path):
    whole = (
        "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
        "1\ta\tb\tNEUTRAL\t4.5\tTRAIN\n2\tc\td\tNEUTRAL\t1\tTEST\n"
    )
    write(tmp_path / "whole", {"SICK.txt": whole})
    part = (
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n2\tc\td\t1\tN\n"
    )
    write(tmp_path / "parts", {"SICK_test_annotated.txt": part})
    train, test = read_data_sets([tmp_path / "whole"])
    assert (train.name, test.name) == ("sick.test", "sick.train")
    (only,) = read_data_sets([tmp_path / "parts"])
    assert (only.name, only.scores, only.pairs) == ("sick.test", (1.0,), (("c", "d"),))


def test_twitter_scores_are_votes(tmp_path):
    line = "1\tSport\tA goal\tHe scored\t{}\ttags\ttags\n"
    write(tmp_path, {"train.data": line.format("(3, 2)"), "test.data": line.format("4")})
    test, train = read_data_sets([tmp_path])
    assert (test.name, test.scores) == ("twitter.test", (4.0,))
    assert (train.name, train.scores) == ("twitter.train", (3.0,))
    assert test.pairs == (("A goal", "He scored"),)


def test_any_tsv(tmp_path):
    write(tmp_path, {"mine.tsv": "0.5\ta\tb\n\tc\td\n-1e1\te\tf\textra\n"})
    (found,) = read_data_sets([tmp_path / "mine.tsv"])
    assert found.name == found.group == "mine"
    assert (found.scores, found.unscored) == ((0.5, -10.0), 1)


def test_absent_data_sets_are_named(tmp_path):
    found = read_data_sets([write(tmp_path, SEMEVAL)])
    absent = missing(found)
    assert "2012.MSRvid" in absent
    assert "2012.MSRpar" not in absent
    assert len(absent) == sum(map(len, KNOWN.values())) - len(found)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"STS.input.a.txt": "a\tb\n"}, "no file of its scores, STS.gs.a.txt"),
        ({"STS.input.a.txt": "a\tb\n", "STS.gs.a.txt": "1\n2\n"}, "1 lines, .* has 2"),
        ({"STS.input.a.txt": "a b\n", "STS.gs.a.txt": "1\n"}, "line 1: 1 columns"),
        ({"STS.input.a.txt": "a\tb\n", "STS.gs.a.txt": "x\n"}, "line 1: 'x' is no score"),
        ({"sts-dev.csv": "g\tf\ty\t1\t2.0\tonly one\n"}, "line 1: 6 columns"),
        ({"SICK.txt": "pair_ID\tsentence_A\n"}, "does not name the columns"),
        *(
            ({"a.tsv": f"1\ta\tb\n{score}\ta\tb\n"}, r"a\.tsv, line 2: .* is no score")
            for score in ("nan", "NaN", "inf", "-Infinity", "1e999", "1_0", "0x1", "٣")
        ),
        (
            {"STS.input.a.txt": "a\tb\na\tb\n", "STS.gs.a.txt": "1\nnan\n"},
            r"STS\.gs\.a\.txt, line 2: 'nan' is no score",
        ),
        ({"sts-dev.csv": "g\tf\ty\t1\tnan\ta\tb\n"}, r"sts-dev\.csv, line 1: 'nan' is no score"),
        (
            {"SICK.txt": "sentence_A\tsentence_B\trelatedness_score\na\tb\tinf\n"},
            r"SICK\.txt, line 2: 'inf' is no score",
        ),
        ({"x.data": f"1\t1\ta\tb\t({'9' * 400}, 1)\n"}, r"x\.data, line 1: .* is no score"),
        ({"x.data": "1\t1\ta\tb\t(٣, 1)\n"}, r"x\.data, line 1: .* is no score"),
        ({"x.data": "1\t1\ta\tb\tnan\n"}, r"x\.data, line 1: 'nan' is no score"),
        ({"a.tsv": "1\ta\t" + "b" * (1 << 20) + "\n"}, r"a\.tsv, line 1: more than 1048576"),
        ({"a.tsv": "1.0\ta\n"}, "line 1: 2 columns"),
        ({"a.tsv": ""}, r"a\.tsv: no pair of the data set a has a score"),
        (
            {"STS.input.a.txt": "a\tb\n", "13/STS.gs.a.txt": "\n"},
            r"STS\.input\.a\.txt: no pair of the data set .*a has a score",
        ),
        ({"all.tsv": "1.0\ta\tb\n"}, "can't be called 'all'"),
        ({"x/a.tsv": "1\ta\tb\n", "y/a.tsv": "1\ta\tb\n"}, "both the data set a"),
        ({"notes.txt": "nothing\n"}, "no STS data set"),
    ],
)
def test_bad_data_is_named(tmp_path, files, expected):
    with pytest.raises(InputError, match=expected):
        read_data_sets([write(tmp_path, files)])


def test_missing_and_undecodable_files_are_named(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        read_data_sets([tmp_path / "absent"])
    (tmp_path / "a.tsv").write_bytes(b"1\tcaf\xe9\tb\n")
    with pytest.raises(InputError, match="UTF-8"):
        read_data_sets([tmp_path])


def test_real_sts_benchmark(data_dir):
    (found,) = read_data_sets([data_dir / "stsbenchmark"])
    assert found.name == "stsbenchmark.dev"
    assert len(found.scores) == 1500
    assert min(found.scores) == 0
    assert max(found.scores) == 5
    assert all(first and second for first, second in found.pairs)
