import io

import pytest
import sentencepiece

from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.stages.subword.segmenter import Segmenter

SENTENCES = [
    "the old man sees a small dog",
    "a small dog sees the old man",
    "the dog is seen by an old man",
    "old dogs and small men",
    "the man gave the dog a bone",
]


@pytest.fixture(scope="session")
def segmenter_path(tmp_path_factory):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_writer=model,
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    path = tmp_path_factory.mktemp("segmenter") / "reference.model"
    path.write_bytes(model.getvalue())
    write_record(path.with_name("model"), 0, 0, {}, files=[path])
    return path


@pytest.fixture(scope="session")
def segmenter(segmenter_path):
    return Segmenter(segmenter_path)
