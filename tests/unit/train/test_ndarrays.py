import subprocess

import numpy as np
import pytest

from tests.unit.train.mxnet_files import TYPES, list_bytes
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.train import ndarrays

ARRAYS = {
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
    "vector": np.array([1.5], dtype=np.float64),
    "naïve": np.zeros((2, 0, 3), dtype=np.int64),
}


def same(found, wanted):
    assert list(found) == list(wanted)
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("magic", [0xF993FAC9, 0xF993FACA])
def test_arrays_come_back_with_their_names(tmp_path, magic):
    path = tmp_path / "params"
    path.write_bytes(list_bytes(ARRAYS, magic=magic))
    same(ndarrays.read(path), ARRAYS)


def test_every_data_type_is_read(tmp_path):
    arrays = {name: np.array([[1, 2]], dtype=name) for name in TYPES}
    path = tmp_path / "params"
    path.write_bytes(list_bytes(arrays))
    same(ndarrays.read(path), arrays)


def test_a_file_that_mxnet_wrote_is_read(tmp_path, mxnet_python):
    path = tmp_path / "params"
    script = (
        "import sys, mxnet as mx; mx.nd.save(sys.argv[1], "
        "{'a': mx.nd.arange(6).reshape((2, 3)), 'b': mx.nd.ones((4,), dtype='int32')})"
    )
    subprocess.run([mxnet_python, "-c", script, str(path)], env={}, check=True, timeout=60)
    wanted = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(4, dtype=np.int32)}
    same(ndarrays.read(path), wanted)


def test_a_file_cut_anywhere_is_an_error(tmp_path):
    path = tmp_path / "params"
    whole = list_bytes(ARRAYS)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="params: "):
            ndarrays.read(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(InputError, match="more than arrays"):
        ndarrays.read(path)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"PK\3\4" + bytes(20), "no file of MXNet arrays"),
        (list_bytes(ARRAYS, storage=1), "dense"),
        (list_bytes(ARRAYS, magic=0xF993FAC8), "MXNet 1.x"),
    ],
)
def test_other_files_are_refused(tmp_path, data, complaint):
    path = tmp_path / "params"
    path.write_bytes(data)
    with pytest.raises(InputError, match=complaint):
        ndarrays.read(path)
