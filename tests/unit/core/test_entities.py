import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.core.text.entities import has_entities, unescaped


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Tom &amp; Jerry", "Tom & Jerry"),
        ("it&#39;s &quot;fine&quot;", 'it\'s "fine"'),
        ("it&#x27;s", "it's"),
        ("&amp;quot;twice&amp;quot;", '"twice"'),
        ("caf&eacute; &euro; 5", "café € 5"),
        ("a&nbsp;b", "a\u00a0b"),
    ],
)
def test_entities_become_what_they_stand_for(text, plain):
    assert has_entities(text)
    assert unescaped(text) == plain
    assert not has_entities(plain)


@pytest.mark.parametrize(
    "text", ["AT&T", "R&D;", "a &copy b", "if you&not mind", "&unknown;", "&;", "&#;", "5 & 6;", ""]
)
def test_what_is_no_whole_entity_stays(text):
    assert not has_entities(text)
    assert unescaped(text) == text


@pytest.mark.slow
@given(st.text(alphabet="&#x0123456789;ampquotlgt "))
def test_any_text_can_be_unescaped(text):
    assert (unescaped(text) != text) <= has_entities(text)
