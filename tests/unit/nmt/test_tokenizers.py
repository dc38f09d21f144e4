"""Tokenizers of each kind: text to pieces and back, and constraints of words on them."""

import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from tests.unit.nmt.marian_files import write_binary
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.text.normalisation import spellings
from workflow_scripts.core.text.piece_spelling import follows_word
from workflow_scripts.core.text.subword_model import SubwordModel, copy_model
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.raw import forbidden, wanted
from workflow_scripts.nmt.vocabulary import BOS, EOS, SYMBOLS, UNK, Vocabulary
from workflow_scripts.stages.rewrite.requests import Request
from workflow_scripts.stages.rewrite.rewriter import Rewriter
from workflow_scripts.stages.rewrite.spellings import holds

TEXT = "the old cat sees a dog café señor naïve river bridge houses garden under"
WORDS = TEXT.split()
SIGNS = [*"\u201c\u201d\u2019'\"()-,.\u00ab\u00bf<>"]
FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
CODE = "en_XX"


def sentences() -> list[str]:
    draw = random.Random(1)
    return [
        " ".join(
            draw.choice(["", "", *SIGNS])
            + draw.choice(spellings(draw.choice(WORDS), case=True))
            + draw.choice(["", "", "s", *SIGNS])
            for _ in range(8)
        )
        for _ in range(300)
    ]


@dataclass(repr=False)
class Kind:
    """A tokenizer: its file, the model's ids by the names of pieces, and the library's own ids."""

    path: Path
    own: dict[str, int]
    expected: Callable[[str], list[int]]

    def __post_init__(self) -> None:
        self.names = [*SYMBOLS, *(name for name in self.own if name not in SYMBOLS)]
        self.vocabulary = Vocabulary(self.names)
        self.coder = TextCoder(self.vocabulary, self.path)
        self.model = SubwordModel(self.path)


def learnt(folder: Path, name: str, **options: object) -> sentencepiece.SentencePieceProcessor:
    content = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences()),
        model_writer=content,
        vocab_size=120,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
        **options,
    )
    (folder / name).write_bytes(content.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=content.getvalue())


def unigram(folder: Path) -> Kind:
    processor = learnt(folder, "unigram.model")
    return Kind(
        folder / "unigram.model", SubwordModel(folder / "unigram.model").ids(), processor.encode
    )


def with_vocabulary(folder: Path) -> Kind:
    processor = learnt(folder, "bpe.model", model_type="bpe")
    pieces = SubwordModel(folder / "bpe.model").vocabulary()
    random.Random(1).shuffle(pieces)
    own = {piece: index for index, piece in enumerate([*FAIRSEQ, *pieces[20:]])}
    return Kind(
        folder / "bpe.model",
        own,
        lambda text: [own.get(piece, 3) for piece in processor.encode_as_pieces(text)],
    )


def shifted(folder: Path) -> Kind:
    processor = learnt(folder, "shifted.model", model_type="bpe")
    pieces = SubwordModel(folder / "shifted.model").vocabulary()
    own = {piece: index for index, piece in enumerate([*FAIRSEQ, *pieces, CODE])}
    return Kind(
        folder / "shifted.model",
        own,
        lambda text: [index + 1 if index else 3 for index in processor.encode(text)],
    )


def pegasus(folder: Path) -> Kind:
    processor = learnt(folder, "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    pieces = SubwordModel(folder / "spiece.model").vocabulary()
    own = {"<pad>": 0, "</s>": 1, "<mask_1>": 2, "<unk>": 105}
    own |= {piece: index for index, piece in enumerate(pieces, 106)}
    return Kind(
        folder / "spiece.model", own, lambda text: [index + 103 for index in processor.encode(text)]
    )


def of_library(path: Path, tokenizer: Tokenizer) -> Kind:
    tokenizer.save(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Kind(
        path,
        SubwordModel(path).ids(),
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
    )


def metaspace(folder: Path) -> Kind:
    processor = learnt(folder, "source.model")
    pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(3, len(processor))]
    special = [(name, 0.0) for name in FAIRSEQ]
    tokenizer = Tokenizer(models.Unigram([*special, *pieces, (CODE, 0.0)], unk_id=3))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.add_special_tokens([*FAIRSEQ, CODE, AddedToken("<mask>", lstrip=True)])
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=9)
    return of_library(folder / "metaspace.json", tokenizer)


def bytes_of(prefix: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[*FAIRSEQ, "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences(), trainer)
    return tokenizer


def byte_level(folder: Path) -> Kind:
    return of_library(folder / "bytes.json", bytes_of(prefix=False))


def with_merges(folder: Path) -> Kind:
    tokenizer = bytes_of(prefix=True)
    tokenizer.model.save(str(folder))
    (folder / "tokenizer_config.json").write_text('{"add_prefix_space": true}')
    kind = of_library(folder / "prefixed.json", tokenizer)
    return Kind(folder / "vocab.json", kind.own, kind.expected)


def with_settings(folder: Path) -> Kind:
    kind = of_library(folder / "tokenizer.json", bytes_of(prefix=True))
    parts = json.loads(kind.path.read_text())
    parts["pre_tokenizer"]["add_prefix_space"] = False
    kind.path.write_text(json.dumps(parts))
    (folder / "tokenizer_config.json").write_text('{"add_prefix_space": true}')
    return Kind(kind.path, kind.own, kind.expected)


OF_FILES = (with_merges, with_settings)
MAKERS = (unigram, with_vocabulary, shifted, pegasus, metaspace, byte_level, *OF_FILES)


@pytest.fixture(scope="module", params=MAKERS, ids=lambda maker: maker.__name__)
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kind:
    return request.param(tmp_path_factory.mktemp("tokenizers"))


signed = st.text("".join(SIGNS).strip("<>"), max_size=2)
words = st.sampled_from(WORDS) | st.text("abcdeghinorstuv\u00e9\u00ef", min_size=1, max_size=7)
tokens = st.tuples(signed, words, signed).map("".join)
texts = st.lists(tokens, min_size=1, max_size=6).map(" ".join)
few = settings(max_examples=25, deadline=None)


@few
@given(text=texts)
def test_ids_are_the_library_s_and_pieces_join_to_the_text(kind: Kind, text: str):
    pieces = kind.coder.pieces(text)
    assert [kind.own.get(piece, kind.own["<unk>"]) for piece in pieces] == kind.expected(text)
    assert kind.model.text(pieces) == text
    if UNK not in (ids := kind.coder.encode(text)):
        assert kind.coder.decode(ids) == text


@few
@given(text=st.text("a\u00e9\u732b\u2581\U0001f642 <0xE9>\u03b1\u201d\u0301\n\xa0\x1c", min_size=1))
def test_byte_level_pieces_write_every_text(byte_kind: Kind, text: str):
    pieces = byte_kind.model.pieces(text)
    assert byte_kind.model.text(pieces) == text.removeprefix(" ")
    assert len(set(byte_kind.model.ids())) == len(byte_kind.model.ids())
    assert all(piece in byte_kind.own for piece in pieces)
    assert " ".join(pieces).split() == pieces


@pytest.fixture(scope="module")
def byte_kind(tmp_path_factory: pytest.TempPathFactory) -> Kind:
    return byte_level(tmp_path_factory.mktemp("bytes"))


def places(phrase: tuple[int, ...], ids: tuple[int, ...]) -> list[int]:
    return [at for at in range(len(ids)) if ids[at : at + len(phrase)] == phrase]


@few
@given(
    word=words,
    form=st.integers(0, 2),
    before=st.sampled_from(["", "a dog ", "old, "]),
    lead=st.sampled_from(["", '"', "(", "\u201c", "\u00bf", "-", "\u00ab"]),
    after=st.sampled_from(["", ".", ", and", "\u2019s", "\u201d", " sees"]),
)
def test_a_word_in_a_text_is_one_that_is_forbidden_and_met(kind, word, form, before, lead, after):
    spelling = spellings(word, case=True)[form % len(spellings(word, case=True))]
    text = before + lead + spelling + after
    assert holds(text, word)
    ids = (BOS, *kind.coder.encode(text), EOS)
    if UNK in ids:
        return
    assert any(
        phrase == ids[at : at + len(phrase)]
        for phrase in forbidden(kind.coder, word)
        for at in range(len(ids))
    )
    phrase = wanted(kind.coder, spelling)
    assert kind.coder.decode(list(phrase)) == spelling
    tied = wanted(kind.coder, f"<s> {spelling}")
    found = places(phrase, ids)
    if not before and not lead:
        assert ids[: len(tied)] == tied
        phrase, found = tied, [0]
    ends = kind.vocabulary.ends_word
    assert lead or any(ends[ids[at + len(phrase)]] for at in found)


def test_a_special_token_s_name_is_text(kind: Kind):
    special = kind.own.keys() - set(kind.model.vocabulary())
    for name in {*FAIRSEQ, "<mask>", CODE, *special}:
        assert not special & set(kind.model.pieces(f"a {name} b{name}")) - {"<unk>"}


@pytest.mark.parametrize("samples", [0, 6])
def test_a_rewriter_keeps_words_out_and_puts_them_in(kind: Kind, tmp_path: Path, samples: int):
    size = len(kind.names)
    model = load_model(
        write_binary(tmp_path / "model", {"dim-vocabs": [size - 2] * 2}, end_bias=2.0), "cpu"
    )
    model.source_vocab = model.target_vocab = kind.vocabulary
    rewriter = Rewriter(model, kind.coder, kind.coder, "en")
    text = "the old cat sees a dog under houses"
    requests = [Request(text, number=3, samples=samples)]
    (free,) = rewriter.answer(requests)
    written = {word for paraphrase in free.paraphrases for word in paraphrase.text.split()}
    avoid = sorted(word for word in written if word.isalpha())[:3]
    use = () if samples else ("bridge", "caf\u00e9")
    (answer,) = rewriter.answer(
        [Request(text, tuple(avoid), avoid_pieces=True, use=use, number=3, samples=samples)]
    )
    assert answer.paraphrases
    for paraphrase in answer.paraphrases:
        assert not any(holds(paraphrase.text, word) for word in avoid)
        assert all(holds(paraphrase.text, word) for word in use)


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        *[("\u2581<0xE2><0x80>", True), ("<0xE2><0x80>", True), ("<0xF0><0x9F>", True)],
        *[("<0xC2>", True), ("<0xE2><0x96><0x81>", True), ("\u201d<0xE2>", True)],
        *[(piece, False) for piece in ("<0xC3>", "<0xCE>", "<0xE3>", "<0x99>", "a<0xE2>")],
    ],
)
def test_parts_of_characters_end_a_word_where_most_of_these_are_signs(piece: str, expected: bool):
    assert follows_word(piece) is expected


METASPACE, BYTES = (
    json.loads(kind().__getstate__()) for kind in (decoders.Metaspace, decoders.ByteLevel)
)
MODEL = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
TWICE = {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.0], ["a", -2.0]], "unk_id": 0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"model": ', r"cannot read the tokenizer: "),
        ('{"model": "a"}', r'no tokenizer.json: it has no object "model"; write tokenizer.json'),
        ('{"a": 0}', r"is a vocabulary, and has no merges.txt beside it"),
        ({"model": {"type": "WordPiece"}}, r"model.type is 'WordPiece'; supported"),
        ({"model": MODEL, "decoder": "a"}, r"its decoder is neither ByteLevel nor"),
        ({"model": MODEL, "decoder": None}, r"its decoder is neither ByteLevel nor"),
        ({"model": MODEL, "decoder": {"type": "BPEDecoder"}}, r"not supported"),
        ({"model": TWICE, "decoder": METASPACE}, r"model.vocab has a piece twice"),
        ({"model": MODEL | {"merges": 1}, "decoder": BYTES}, r"cannot read the tokenizer: "),
        (
            {"model": MODEL | {"vocab": {"\u732b": 0}}, "decoder": BYTES},
            r"'\u732b' of the vocabulary .* stands for no byte",
        ),
    ],
)
def test_what_is_no_tokenizer_is_named(tmp_path: Path, content: str | dict, message: str):
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"bad\.json.*{message}"):
        SubwordModel(tmp_path / "bad.json")


@pytest.mark.parametrize("maker", OF_FILES)
def test_two_files_are_copied_as_one(tmp_path: Path, maker: Callable[[Path], Kind]):
    kind = maker(tmp_path)
    copy_model(kind.path, tmp_path / "source.model")
    copy = SubwordModel(tmp_path / "source.model")
    assert copy.ids() == kind.model.ids()
    for text in sentences()[:20]:
        assert copy.pieces(text) == kind.model.pieces(text)
        assert copy.phrase(text) == kind.model.phrase(text)


def test_only_unigram_models_of_sentencepiece_have_samples(byte_kind: Kind):
    with pytest.raises(InputError, match="has one segmentation of a text"):
        byte_kind.model.nbest("a", 2)
