"""How cards of the Hugging Face hub name a licence."""

import re


def licence_fields(licence: str) -> dict[str, str]:
    """Return a card's licence fields: an identifier of the Hub, or the name of any licence."""
    if re.fullmatch(r"[a-z0-9][a-z0-9.-]*", licence):
        return {"license": licence}
    return {"license": "other", "license_name": licence}
