from workflow_scripts.core.tools import mixed_versions, tools_of


def test_versions_of_records_and_manifests_are_joined():
    record, manifest = {"tools": {"torch": "2.1"}}, {"tools": {"torch": ["2.0"], "numpy": ["1"]}}
    assert tools_of([record, manifest, {}]) == {"numpy": ["1"], "torch": ["2.0", "2.1"]}


def test_one_version_each_is_no_reason_to_warn():
    assert not mixed_versions(
        {"clean": {"numpy": ["1"]}, "train": {"numpy": ["1"], "torch": ["2"]}}
    )


def test_tool_versions_and_units_are_named():
    units = {f"corpus.c{number}": {"pyarrow": ["1"]} for number in range(7)}
    units |= {"clean": {"pyarrow": ["2"]}, "subword": {"pyarrow": ["1", "2"]}}
    (line,) = mixed_versions(units)
    assert line == (
        "different versions of pyarrow made this run: 1 corpus.c0, corpus.c1, corpus.c2, "
        "corpus.c3, corpus.c4 and 3 more; 2 clean, subword"
    )
