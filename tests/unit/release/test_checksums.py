import re
import subprocess

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.stages.release.checksums import main


@pytest.fixture
def released(tmp_path):
    """A folder of three files with two records, and the command line that sums them."""
    files = [tmp_path / name for name in ("paraphrases.tsv.zst", "README.md", "a b.parquet")]
    for number, path in enumerate(files):
        path.write_bytes(bytes([number]) * 1000)
    write_record(files[1], 0, 0, {})
    write_record(tmp_path / "paraphrases", 0, 0, {}, files=[files[0], files[2]])
    records = [str(tmp_path / name) for name in ("README.json", "paraphrases.json")]
    return tmp_path, ["--records", *records, "--output", str(tmp_path / "SHA256SUMS")]


def test_sha256sum_accepts_and_notices_a_change(released):
    folder, command = released
    main(command)
    names = [line.split("  ", 1)[1] for line in (folder / "SHA256SUMS").read_text().splitlines()]
    assert names == ["README.md", "a b.parquet", "paraphrases.tsv.zst"]
    check = ["sha256sum", "-c", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=folder, capture_output=True).returncode == 0
    (folder / "paraphrases.tsv.zst").write_bytes(b"changed")
    assert subprocess.run(check, cwd=folder, capture_output=True).returncode == 1


@pytest.mark.parametrize("name", ["README.md", "a b.parquet", "paraphrases.tsv.zst"])
@pytest.mark.parametrize("content", [b"", b"another"], ids=["emptied", "changed"])
def test_damage_is_not_summed(released, name, content):
    folder, command = released
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{re.escape(name)} differs from what its stage wrote"):
        main(command)
    assert not (folder / "SHA256SUMS").exists()


def test_files_that_can_not_be_listed(released):
    folder, (*_, record, _, _) = released
    output = folder / "release" / "SHA256SUMS"
    with pytest.raises(InputError, match="is not below"):
        main(["--records", record, "--output", str(output)])
    with pytest.raises(InputError, match=r"no record none\.json"):
        main(["--records", str(folder / "none.json"), "--output", str(folder / "SHA256SUMS")])
    (folder / "README.md").unlink()
    with pytest.raises(InputError, match=r"README\.md is missing"):
        main(["--records", str(folder / "README.json"), "--output", str(folder / "SHA256SUMS")])
    assert not list(folder.glob("**/SHA256SUMS"))
