"""What the page's form wishes."""

import re
from typing import Any

from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.stages.rewrite.requests import RequestError

# What stands between words; the script of the page splits them at the same places.
_BETWEEN = re.compile(r"[;\n]|(?<!\d),|,(?!\d)")


def request_fields(form: dict[str, str]) -> dict[str, Any]:
    """Return the fields of a request as JSON has them, given those of the page's form.

    Words stand in one field, with commas, semicolons or line ends between; the comma of a number
    (1,000) is part of it.

    Raises:
        RequestError: a field that takes a number has another text.
    """
    fields: dict[str, Any] = {"text": form.get("text", "")}
    for name in ("avoid", "use"):
        words = _BETWEEN.split(form.get(name, ""))
        fields[name] = [word.strip() for word in words if word.strip()]
    for name in ("avoid_forms", "avoid_pieces", "use_forms"):
        fields[name] = name in form
    for name in ("number", "samples", "seed"):
        if written := form.get(name, "").strip():
            if not (written.isascii() and written.isdigit()) or len(written) > 10:
                raise RequestError(f"'{name}' must be a whole number")
            fields[name] = int(written)
    if written := form.get("at_least", "").strip():
        try:
            fields["at_least"] = finite(written)
        except ValueError as error:
            raise RequestError("'at_least' must be a number from 0 to 1") from error
    for name in ("template", "system"):
        if written := form.get(name, "").strip():
            fields[name] = written
    return fields
