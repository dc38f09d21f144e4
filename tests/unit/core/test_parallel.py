import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parallel import read_pairs


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("references", "paraphrases", "message"),
    [
        ("a\nb\nc\n", "a\n", "has 3 lines and .* has 1"),
        ("a\n", "a\n\n", "has 1 lines and .* has 2"),
        ("", "", "are empty"),
        ("a\nb\n", b"a\n\xff\n", r"para.txt, line 2 is not UTF-8"),
    ],
)
def test_bad_files(tmp_path, references, paraphrases, message):
    paths = write(tmp_path / "ref.txt", references), write(tmp_path / "para.txt", paraphrases)
    with pytest.raises(InputError, match=message):
        list(read_pairs(*paths))
