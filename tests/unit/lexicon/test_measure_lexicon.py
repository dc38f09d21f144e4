import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cosine
from scipy.stats import spearmanr

from tests.tables import write_table, write_training_pairs
from tests.unit.embed import examples
from tests.unit.embed.test_train import collected
from tests.unit.lexicon.wordnet_files import write_wordnet
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.files.rows import LexiconRow
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.encoding import embedding as embedding
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT
from workflow_scripts.stages.embed import train
from workflow_scripts.stages.lexicon import measure_lexicon, report
from workflow_scripts.stages.lexicon.measures_data import Listed
from workflow_scripts.stages.lexicon.results import read_measures

ENTRIES = [
    ("teacher", "instructor", 4.0),
    ("instructor", "teacher", 3.5),
    ("buy", "purchase", 3.0),
    ("purchase", "buy", 3.0),
    ("hot", "cold", 2.0),
    ("big", "large", 1.5),
    ("dog", "canine", 1.0),
    ("the teacher", "the instructor", 0.5),
]
CONFIG: dict[str, Any] = {
    **{"word_similarity": [], "ppdb": [], "antonyms": [], "vectors": [], "wordnet": None},
    **{"encoder": None, "testbed": False, "bootstrap": 20, "seed": 1},
}


def _lexicon(folder: Path) -> Path:
    rest = {"tag": None, "pmi_cross": 1.0, "pmi_within": 0.0, "count": 2}
    rest |= {"p_paraphrase": 0.5, "p_phrase": 0.5}
    rows = [
        {"phrase": phrase, "paraphrase": paraphrase, "score": score, **rest}
        for phrase, paraphrase, score in ENTRIES
    ]
    return write_table(folder / "lexicon.parquet", LexiconRow, rows)


def _measured(tmp_path: Path, *options: str, **config: Any) -> Path:
    output = tmp_path / "measures" / "sample.tsv"
    output.parent.mkdir()
    settings = json.dumps({**CONFIG, **config})
    command = ["--config", settings, "--lexicon", str(_lexicon(tmp_path))]
    measure_lexicon.main([*command, *options, "--output", str(output)])
    return output.parent


def _training_set(tmp_path: Path) -> list[str]:
    pairs = [("The teacher ate.", "The instructor ate.")]
    path = write_training_pairs(tmp_path / "set" / "pairs.parquet", pairs)
    return ["--training-sets", str(path)]


def _user_files(tmp_path: Path) -> dict[str, Any]:
    similar = "buy\tpurchase\t9\nbig\tlarge\t8\nhot\tcold\t2\ndog\tcar\t1\n"
    (tmp_path / "similar.txt").write_text(similar)
    (tmp_path / "xl.txt").write_text("buy purchase\nbig large great\n")
    score = "||| PPDB2.0Score={} ||| 0-0 ||| Equivalence\n"
    lines = ["[V] ||| buy ||| purchase " + score.format(4), "[J] ||| hot ||| cold "]
    (tmp_path / "ppdb2.txt").write_text("".join(lines) + score.format(1))
    (tmp_path / "opposite.txt").write_text("big large \n")
    (tmp_path / "glove.txt").write_text("buy 1 0\npurchase 1 0.1\nhot 0 1\ncold 1 1\n")
    return {
        "word_similarity": [str(tmp_path / "similar.txt")],
        "ppdb": [str(tmp_path / "xl.txt"), str(tmp_path / "ppdb2.txt")],
        "antonyms": [str(tmp_path / "opposite.txt")],
        "vectors": [str(tmp_path / "glove.txt")],
        "wordnet": str(write_wordnet(tmp_path / "wordnet")),
    }


def test_all_measures_of_a_lexicon(tmp_path: Path) -> None:
    folder = _measured(tmp_path, **_user_files(tmp_path))
    measures = read_measures(folder)
    assert measures["entries"] == len(ENTRIES)
    one = measures["similarity"]["similar"]
    assert one["pairs"] == 4
    covered = {name: figures["covered"] for name, figures in one["rankers"].items()}
    assert covered == {"lexicon": 3, "chance": 4, "xl": 2, "ppdb2": 2, "glove": 2}
    # Of equal numbers and of three pairs: buy 3.0, hot 2.0, big 1.5.
    assert one["rankers"]["lexicon"]["on_covered"]["value"] == 0.5
    precision = {(part["of"], part["by"], part["words"]): part for part in measures["precision"]}
    (cut,) = precision["lexicon", "wordnet", "all"]["cuts"]
    # WordNet here lacks teacher and instructor: of five entries three share a synset.
    assert (cut["entries"], cut["precision"]["value"]) == (5, 0.6)
    assert cut["with_further"]["value"] == 0.8
    assert precision["lexicon", "xl", "all"]["cuts"][0]["entries"] == 2
    # Lists are judged by WordNet as the lexicon is; hot and cold are antonyms.
    assert precision["ppdb2", "wordnet", "all"]["cuts"][0]["precision"]["value"] == 0.5
    assert ("lexicon", "wordnet", "2") not in precision  # none that it knows
    by_source = measures["antonyms"][0]["by_source"]
    assert by_source["wordnet"]["first"] == [["hot", "cold"]]
    assert by_source["files"]["first"] == [["big", "large"]]
    assert measures["testbed"] is None


def test_embeddings_and_the_encoder_are_compared_by_their_cosines(tmp_path, monkeypatch):
    texts = examples.simulated_pairs(20)
    pairs = write_training_pairs(tmp_path / "pairs.parquet", texts)
    train.main(examples.train_arguments(tmp_path / "embed", pairs, collected(tmp_path, [])))
    folder = tmp_path / "embed" / "1"
    monkeypatch.setattr(measure_lexicon, "encoder_folder", lambda _: folder)
    first, *others = sorted({word for text in texts[0] for word in text.lower().split()})
    lines = [f"{first}\t{other}\t{number}\n" for number, other in enumerate(others)]
    (tmp_path / "similar.txt").write_text("".join(lines))
    measured = _measured(
        tmp_path,
        *("--embeddings", f"word={folder}"),
        word_similarity=[str(tmp_path / "similar.txt")],
        encoder=DEFAULT,
    )
    rankers = read_measures(measured)["similarity"]["similar"]["rankers"]
    assert set(rankers) == {"lexicon", "chance", "word", "word, untrained", "encoder"}
    assert rankers["encoder"] == rankers["word"] != rankers["word, untrained"]
    for name, untrained in (("word", False), ("word, untrained", True)):
        model = embedding.load(folder, untrained)
        vectors = dict(zip([first, *others], model.encode([first, *others]), strict=True))
        known = [number for number, other in enumerate(others) if vectors[other].any()]
        cosines = [1 - cosine(vectors[first], vectors[others[number]]) for number in known]
        assert rankers[name]["covered"] == len(known) > 3
        expected = spearmanr(known, np.round(cosines, 6)).statistic
        assert rankers[name]["on_covered"]["value"] == pytest.approx(expected, abs=1e-6)


def test_nothing_to_measure_against_is_said_by_empty_figures(tmp_path: Path) -> None:
    measures = read_measures(_measured(tmp_path))
    assert (measures["similarity"], measures["precision"], measures["antonyms"]) == (None, [], [])


def test_exact_synonyms_on_the_testbed(tmp_path: Path) -> None:
    folder = _measured(tmp_path, *_training_set(tmp_path), testbed=True)
    figures = read_measures(folder)["testbed"]
    assert (figures["all"]["occurring"], figures["all"]["aligned"]) == (2, 2)
    assert figures["all"]["cuts"][-1]["recall"] == 1.0
    # teacher, instructor; buy, purchase; big, large; the teacher, the instructor
    assert figures["all"]["cuts"][-1]["right"] == 6
    assert (figures["1"]["cuts"][-1]["entries"], figures["1"]["cuts"][-1]["right"]) == (7, 5)


def test_the_sample_to_read_is_drawn_once(tmp_path: Path) -> None:
    text = (_measured(tmp_path) / "sample.tsv").read_text("utf-8")
    header, *lines = [line.split("\t") for line in text.splitlines()]
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert len(rows) == len(ENTRIES)
    assert [int(row["place"]) for row in rows] == list(range(1, len(ENTRIES) + 1))
    assert rows[0] == {"among": "8", "place": "1", "phrase": "teacher", "paraphrase": "instructor"}


def test_a_damaged_lexicon_is_refused(tmp_path: Path) -> None:
    path = _lexicon(tmp_path)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match=r"lexicon\.parquet"):
        list(measure_lexicon.entries(path))


def test_a_folder_without_sets_and_equal_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no set of word pairs"):
        _measured(tmp_path, word_similarity=[str(tmp_path / "empty")])
    files = _user_files(tmp_path)
    (tmp_path / "chance.txt").write_text("buy purchase\n")
    (tmp_path / "measures").rmdir()
    with pytest.raises(InputError, match="called 'chance'; rename"):
        _measured(tmp_path, **files | {"ppdb": [str(tmp_path / "chance.txt")]})


def test_a_list_is_not_called_as_the_lexicon_is(tmp_path: Path) -> None:
    """The rows of both in the table of precision could not be told apart."""
    path = tmp_path / "lexicon.txt"
    path.write_text("big large\n", encoding="utf-8")
    with pytest.raises(InputError, match="two of what is compared are called 'lexicon'"):
        measure_lexicon.resources(None, [Listed(path, {"big", "large"})])


def test_a_file_that_changed_since_the_run_was_planned_is_refused(tmp_path: Path) -> None:
    files = _user_files(tmp_path)
    hashes = json.dumps({files["ppdb"][0]: "0" * 64})
    with pytest.raises(InputError, match=r"xl\.txt changed since the run was planned"):
        _measured(tmp_path, "--inputs", hashes, ppdb=files["ppdb"][:1])


def test_the_section_and_the_tables_show_the_measures(tmp_path: Path) -> None:
    files = _user_files(tmp_path)
    folder = _measured(tmp_path, *_training_set(tmp_path), testbed=True, **files)
    run = FinishedRun({}, [(("lexicon", "words-measures"), folder)])
    module = "workflow_scripts.stages.lexicon.report"
    (section,) = sections([f"{module}:measures_of_lexicons"], run)
    for text in ("Word similarity of words", "hot / cold", "Exact synonyms in words", "ppdb2"):
        assert text in section.html
    table = report.word_similarity(run)
    assert len(table.frame()) == 5
    for function in ("lexicon_precision", "lexicon_antonyms", "lexicon_synonyms"):
        shown = getattr(report, function)(run)
        assert len(shown.frame())
    assert read_json(folder / "measures.json", "sample")["entries"] == len(ENTRIES)


def test_no_section_without_measures(tmp_path: Path) -> None:
    assert report.measures_of_lexicons(FinishedRun({}, [])) is None
