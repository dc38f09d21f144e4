import pytest
from jinja2 import UndefinedError

from workflow_scripts.core.report.rendering import decimal, environment, grouped, percent
from workflow_scripts.stages.release import TEMPLATES


def test_figures():
    assert (grouped(1234567), grouped(0), grouped(None)) == ("1,234,567", "0", "–")
    assert (decimal(1.005, 1), decimal(-0.25), decimal(None)) == ("1.0", "−0.25", "–")
    assert (percent(1, 3), percent(0, 0)) == ("33.3 %", "–")


def test_html_is_escaped_and_undefined_names_are_errors():
    templates = environment(TEMPLATES)
    assert templates.autoescape("report.html.j2")
    assert not templates.autoescape("datasheet.md.j2")
    with pytest.raises(UndefinedError):
        templates.from_string("{{ missing }}").render()
