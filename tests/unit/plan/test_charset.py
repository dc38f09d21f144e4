import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.charset import codec


@pytest.mark.parametrize("name", ["latin-2", "latin2", "iso-8859-2", "ISO8859-2"])
def test_names_of_charsets(name):
    assert "ř".encode(codec(name, "source")) == b"\xf8"


@pytest.mark.parametrize("name", ["latin-99", "hex", "rot13", "base64", "undefined", ""])
def test_names_that_are_no_charset(name):
    with pytest.raises(InputError, match=rf"languages\.source\.charset: '{name}' is not"):
        codec(name, "source")


@pytest.mark.parametrize("name", ["utf-16", "utf-7", "gb18030", "unicode_escape"])
def test_a_charset_of_every_character_is_utf_8(name):
    with pytest.raises(InputError, match=f"'{name}' has every character; write utf-8"):
        codec(name, "source")
    assert codec("UTF8", "source") == "UTF8"
