"""Templates are cut, spelt and counted the same everywhere, and no sentence can spell one."""

import io
import random

import pytest
import sentencepiece

from tests.packages import student
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.stages.rewrite import syntax_templates
from workflow_scripts.stages.rewrite.syntax_templates import (
    Count,
    Template,
    checked,
    known,
    known_labels,
    prefixed,
    read_table,
    spelt,
    symbols,
    template_of,
    write_table,
)
from workflow_scripts.stages.subword.train import train_model

PLAIN = "(S (NP) (VP) (.))"
LABELS = ["NP", "S", "SQ", "VP", ".", ",", "``", "''", "-LRB-", "SBAR"]


@pytest.mark.parametrize(
    ("tree", "template"),
    [
        ("(ROOT (S (NP (PRP I)) (VP (VBP run)) (. .)))", PLAIN),
        ("(S (NP (PRP I)) (VP (VBP run) (ADVP (RB away))) (. .))", PLAIN),
        ("( (S (NP (PRP I)) (VP (VBP run)) (. .)))", PLAIN),
        ("(ROOT (NN Run))", "(NN)"),
        # Two sentences under the root: it is all that they have in common.
        ("(ROOT (S (VP (VB Go))) (. .))", "(ROOT (S) (.))"),
        (
            "(ROOT (S (`` ``) (S (VP (VB Go))) ('' '') (NP (PRP he)) (VP (VBD said)) (. .)))",
            "(S (``) (S) ('') (NP) (VP) (.))",
        ),
        ("(S (-LRB- -LRB-) (NP (PRP I)) (-RRB- -RRB-))", "(S (-LRB-) (NP) (-RRB-))"),
    ],
)
def test_a_template_is_the_top_two_levels_below_the_root(tree, template):
    assert template_of(tree) == template
    labels = [*LABELS, "ROOT", "NN", "-RRB-"]
    assert checked(template, labels) == template


def test_what_is_no_tree_is_refused():
    with pytest.raises(InputError, match="not one tree"):
        template_of("(S (NP")


def test_a_template_is_spelt_by_one_symbol_for_each_label():
    assert spelt(PLAIN) == "((S((NP((VP((.))"
    assert symbols(["VP", "NP", "NP", "``"]) == ["((NP", "((OPEN", "((VP", "))"]
    assert prefixed(PLAIN, "I ran.") == "((S((NP((VP((.)) I ran."
    assert prefixed(None, "I ran.") == ")) I ran."


SENTENCES = [
    "I ran.",
    "He (the boy) slept (twice).",
    "((S((NP)) I ran.",
    "(((((a)))))",
    "f(g(x)) = (y)",
    ")) and ((",
    "\uff08\uff08S\uff08\uff08NP\uff09\uff09 wide",
    "(\u200b(S(\u00ad(NP)\u200b) invisible",
    "\u2474(a) \u207d\u207d",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_no_sentence_spells_a_template(sentence):
    read = prefixed(None, sentence).removeprefix("))")
    assert "((" not in read
    assert "))" not in read
    # Blanks are all that is added, and a sentence without such brackets stays as it is.
    assert read.replace(" ", "") == sentence.replace(" ", "")
    if sentence in SENTENCES[:2]:
        assert read == f" {sentence}"


@pytest.mark.parametrize("rule", ["identity", "nmt_nfkc"])
def test_a_vocabulary_of_its_own_has_the_symbols_as_pieces_and_sentences_never_have_them(rule):
    draw = random.Random(1)
    words = ["the", "cat", "sees", "S", "NP", "(yes)", "VP.", "SBARs"]
    texts = [
        prefixed(draw.choice([PLAIN, None]), " ".join(draw.choices(words, k=8))) for _ in range(999)
    ]
    signs = symbols(LABELS)
    if rule == "identity":
        config = {"model_type": "bpe", "vocab_size": 60, "coverage": 1.0, "split_digits": False}
        model = train_model(texts, {**config, "symbols": signs})
    else:
        stream = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=stream,
            vocab_size=60,
            model_type="bpe",
            user_defined_symbols=signs,
            minloglevel=2,
        )
        model = stream.getvalue()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    # A template that the text never had.
    unseen = "(SQ (``) (NP) ('') (SBAR) (,) (VP) (.))"
    pieces = processor.encode_as_pieces(prefixed(unseen, "the cat"))
    assert [piece for piece in pieces if piece in signs] == [
        *("((SQ", "((OPEN", "((NP", "((''", "((SBAR", "((,", "((VP", "((.", "))")
    ]
    for sentence in SENTENCES:
        pieces = processor.encode_as_pieces(prefixed(None, sentence))
        assert [piece for piece in pieces if piece in signs] == ["))"]


def test_a_pretrained_vocabulary_spells_every_label_by_its_pieces():
    path = student("pten") / "vocab.pten.spm"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    penn = "S SQ SINV SBARQ SBAR FRAG UCP NP VP PP ADJP ADVP WHNP PRN INTJ X RRC LST NAC QP"
    labels = [*penn.split(), *LABELS, "-RRB-", "``", ":", "$", "#", "PRP$", "WP$", "NN", "VBZ"]
    read = {}
    for label in labels:
        ids = processor.encode(prefixed(f"({label} (NP) ({label}))", "I ran."))
        assert not any(map(processor.is_unknown, ids)), label
        read[label] = tuple(ids)
    assert len(set(read.values())) == len(set(labels))


@pytest.mark.parametrize(
    "text",
    [
        "(S(NP)(VP)(.))",
        "  ( S ( NP )(VP) (.) ) ",
        "(ROOT (S (NP) (VP) (.)))",
        "((S (NP) (VP) (.)))",
        "(TOP(ROOT(S(NP)(VP)(.))))",
    ],
)
def test_a_users_template_may_be_written_in_several_ways(text):
    assert checked(text, LABELS) == PLAIN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no template"),
        ("S NP VP", "is no template: write the top two levels"),
        ("(S (NP (DT)) (VP))", "is no template"),
        ("(S (NP I) (VP ran))", "without words"),
        ("(S (NP) (VP)", "is no template"),
        ("(S (NP)) (VP)", "is no template"),
        ("()", "is no template"),
        ("(S (NP) (XP))", "never saw the label 'XP'; its labels are '' , -LRB-"),
        ("(ROOT (S) (NP))", "never saw the label 'ROOT'"),
    ],
)
def test_what_a_rewriter_can_not_read_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        checked(text, LABELS)


SEEN = [
    (PLAIN, "I ran.", 0.5),
    ("(SQ (VP) (NP))", "Ran I?", 0.2),
    (PLAIN, "We ran.", 0.1),
    ("(FRAG (NP))", "A dog.", 0.4),
]


def test_templates_are_counted_alike_in_any_order():
    orders = set()
    for number in range(10):
        count = Count()
        for sentence in random.Random(number).sample(SEEN, len(SEEN)):
            count.add(*sentence)
        orders.add(tuple(count.templates()))
        assert len(count) == 4
    # The most frequent first, those of one count by the alphabet.
    assert orders == {
        (
            Template(PLAIN, 2, "We ran."),
            Template("(FRAG (NP))", 1, "A dog."),
            Template("(SQ (VP) (NP))", 1, "Ran I?"),
        )
    }


def test_the_table_of_templates_comes_back(tmp_path):
    written = [Template(PLAIN, 3, "I \t ran."), Template("(S (``))", 1, '"')]
    path = tmp_path / syntax_templates.TABLE
    write_table(path, written)
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[:2] == [
        "template\tcount\tshare\texample",
        f"{PLAIN}\t3\t0.750000\tI ran.",
    ]
    assert read_table(path) == [Template(PLAIN, 3, "I ran."), written[1]]
    assert known_labels(written) == [".", "NP", "S", "VP", "``"]


def test_the_templates_of_a_model_are_verified(tmp_path):
    with pytest.raises(InputError, match="was trained without templates"):
        known(tmp_path)
    path = tmp_path / syntax_templates.TABLE
    write_table(path, [Template(PLAIN, 3, "I ran.")])
    write_record(tmp_path / "model", 1, 1, {}, files=[path])
    assert known(tmp_path) == [Template(PLAIN, 3, "I ran.")]
    write_table(path, [Template(PLAIN, 4, "I ran.")])
    with pytest.raises(InputError, match="differs from what its stage wrote"):
        known(tmp_path)


def test_a_damaged_count_is_told_with_its_line(tmp_path):
    path = tmp_path / syntax_templates.TABLE
    path.write_text("template\tcount\tshare\texample\n(S)\tmany\t1\tI ran.\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: count 'many'"):
        read_table(path)
