import subprocess

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.release.checksums import main


def test_sha256sum_accepts_and_notices_a_change(tmp_path):
    files = [tmp_path / name for name in ("paraphrases.tsv.zst", "README.md", "a b.parquet")]
    for number, path in enumerate(files):
        path.write_bytes(bytes([number]) * 1000)
    output = tmp_path / "SHA256SUMS"
    main(["--files", *map(str, files), "--output", str(output)])
    names = [line.split("  ", 1)[1] for line in output.read_text().splitlines()]
    assert names == ["README.md", "a b.parquet", "paraphrases.tsv.zst"]
    check = ["sha256sum", "-c", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 0
    files[0].write_bytes(b"changed")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 1


def test_files_that_can_not_be_listed(tmp_path):
    output = tmp_path / "release" / "SHA256SUMS"
    outside = tmp_path / "outside"
    outside.write_text("x")
    with pytest.raises(InputError, match="is not below"):
        main(["--files", str(outside), "--output", str(output)])
    with pytest.raises(InputError, match="is missing"):
        main(["--files", str(tmp_path / "none"), "--output", str(output)])
    assert not output.exists()
