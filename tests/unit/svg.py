"""How tests read a plot."""

import re
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def texts(plot):
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(plot).iter(f"{SVG}text")
    ]


def check_plot(text):
    """Check what holds of every plot of the report."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "currentColor" in text
    assert "<style" not in text
    assert "<metadata" not in text
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'(?:url\(|href=")#([\w.-]+)', text))
    assert targets <= set(ids)
