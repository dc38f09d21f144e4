import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.statistics.numbers import finite, require_finite


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**9), 10**9)))
def test_what_python_writes_is_read(number):
    assert finite(repr(number)) == number
    assert finite(f" {number!r}\t") == number


@pytest.mark.parametrize(("text", "number"), [("1.", 1), (".5", 0.5), ("+2", 2), ("1E3", 1000)])
def test_other_ways_to_write_a_number(text, number):
    assert finite(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("nan", "NaN", "-nan", "inf", "-Infinity", "1e999", "-1e999", "9" * 400),
        *("", " ", ".", "e5", "1_000", "1,5", "0x1", "٣", "1 2", "--1", "1e", "1\n2", "one"),
    ],
)
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(ValueError, match=r"is no number|too great"):
        finite(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_weights_without_a_value_are_refused_by_file_and_name(value, dtype):
    weights = torch.zeros(3, 4, dtype=dtype)
    require_finite("params.best", "output.weight", weights)
    weights[2, 3] = value
    with pytest.raises(InputError, match=r"params\.best: parameter 'output\.weight' holds NaN"):
        require_finite("params.best", "output.weight", weights)
