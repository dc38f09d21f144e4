"""judge.json, whole and damaged: it is refused, or its probabilities are those of its numbers."""

import copy
import json
import math
import operator
import re
from functools import reduce

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.cases import damaged, damages, file, fuzz, json_values, outcome, single
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.judge.judge import Judge

WHOLE = {
    "format": 1,
    "language": "en",
    "features": ["forward_nll", "overlap_1", "reference_vector"],
    "bands": [8, 15],
    "ranges": {"forward_nll": [0.0, 4.0], "overlap_1": [0.0, 1.0]},
    "sets": [
        {
            "weights": {"forward_nll": -2.0, "overlap_1": 1.0, "reference_vector": [1.0, -1.0]},
            **{"intercept": 0.5, "slope": 2.0, "shifts": [0.0, 1.0, -0.5]},
        },
        {"weights": {"overlap_1": 3.0}, "intercept": -1.0, "slope": 1.0, "shifts": [0.0, -1.0, 2]},
    ],
    "about": {"encoder": {"name": "x"}, "reliability": []},
}
FEATURES = {
    "forward_nll": np.array([1.0, 9.0, np.nan, 0.5]),
    "overlap_1": np.array([0.5, 0.7, 0.2, np.nan]),
    "reference_vector": np.array([[0.5, 0.25]] * 4),
}
WORDS = np.array([7.0, 8.0, 30.0, 1.0])


def paths(value, *before):
    """Yield where values stand in a JSON value."""
    yield before
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(inner, *before, key)


PLACES = [path for path in paths(WHOLE) if path]
changes = st.lists(
    st.tuples(
        st.sampled_from(PLACES),
        st.one_of(json_values, st.just("del"), st.sampled_from([*FEATURES, "cosine", 1.5, 16])),
    ),
    max_size=2,
)


def changed(many):
    content = copy.deepcopy(WHOLE)
    for path, value in many:
        try:
            inner = reduce(operator.getitem, path[:-1], content)
            if value == "del":
                del inner[path[-1]]
            else:
                inner[path[-1]] = copy.deepcopy(value)  # a later change may alter it
        except (LookupError, TypeError):
            pass  # an earlier change took it away
    return json.dumps(content)


def simple_probability(content, row):
    """Return what a judge says of a pair; None where too little is known."""
    for each in content["sets"]:
        total, known = each["intercept"], True
        for name, weight in each["weights"].items():
            value = FEATURES.get(name, [np.nan] * 4)[row]
            known &= bool(np.isfinite(value).all())
            if name in content["ranges"]:
                low, high = content["ranges"][name]
                value = np.clip(value, low, high)
            total += float(np.dot(weight, value))
        if known:
            band = sum(WORDS[row] >= begin for begin in content["bands"])
            odds = each["slope"] * total + each["shifts"][band]
            return 1 / (1 + math.exp(-min(max(odds, -700), 700)))
    return None


@fuzz()
@given(changes, damages)
@example([], [])
@example([(("features", 0), None)], [])
@example([(("sets", 0, "weights", "forward_nll"), None)], [])
@example([(("sets", 0, "shifts"), [])], [])
@example([(("sets", 1, "slope"), math.nan)], [])
@example([(("sets", 0, "intercept"), True)], [])
@example([(("sets", 1, "weights", "overlap_1"), False)], [])
@example([(("sets", 0, "weights", "reference_vector"), [1.0])], [])
def test_judges(tmp_path_factory, many, more):
    text = damaged(changed(many).encode(), more)
    with file(tmp_path_factory.getbasetemp(), "judge.json", text) as path:
        found = outcome(path, lambda: Judge.load(path))
    if json.dumps(WHOLE).encode() == text:
        assert found is not None
    if found is None:
        return
    content = json.loads(text, object_pairs_hook=single)
    # True would count as 1.
    numbers = {key: content[key] for key in ("sets", "ranges", "bands")}
    assert not re.search(r"\b(true|false|null)\b", json.dumps(numbers))
    sizes = {"reference_vector": (2,)}
    weights = [each for some in content["sets"] for each in some["weights"].items()]
    try:
        probabilities = found.probability(FEATURES, WORDS)
    except InputError:  # of another encoder, whose vectors have another size
        assert any(np.shape(weight) != sizes.get(name, ()) for name, weight in weights)
        return
    for row, probability in enumerate(probabilities.tolist()):
        wanted = simple_probability(content, row)
        if wanted is None:
            assert math.isnan(probability)
        else:
            assert abs(probability - wanted) < 1e-9
