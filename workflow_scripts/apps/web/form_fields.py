"""The fields of a form that was sent: URL-encoded, or parts with a file."""

from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qs

from workflow_scripts.stages.rewrite.requests import RequestError

URL_ENCODED = "application/x-www-form-urlencoded"
# Fields of a form at most.
_MOST = 40


def fields_of(body: bytes, content_type: str) -> dict[str, str]:
    """Return the fields of a form by name; of a file its text, and under `<name>.name` its name.

    Raises:
        RequestError: it is no form, not UTF-8, or has a field twice.
    """
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == URL_ENCODED:
            fields = parse_qs(body.decode("utf-8"), True, max_num_fields=_MOST, errors="strict")
            for name, values in fields.items():
                _require_single(name, len(values) > 1)
            return {name: value for name, [value] in fields.items()}
        if kind == "multipart/form-data":
            return _parts(body, content_type)
    except ValueError as error:  # UnicodeDecodeError among them
        raise RequestError("the form is not UTF-8, or has too many fields") from error
    except RecursionError:
        pass  # parts in parts in parts
    raise RequestError("this is no form of the page")


def _parts(body: bytes, content_type: str) -> dict[str, str]:
    head = f"Content-Type: {content_type}\r\n\r\n".encode("ascii", "strict")
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    fields: dict[str, str] = {}
    if not message.is_multipart():
        raise RequestError("this is no form of the page")
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(content, bytes) or len(fields) >= _MOST:
            raise RequestError("this is no form of the page")
        _require_single(name, name in fields)
        file = part.get_filename()
        try:
            fields[name] = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if not file:
                raise
            raise RequestError("the file is not UTF-8; convert it") from error
        if file:
            fields[f"{name}.name"] = file
    return fields


def _require_single(name: str, again: bool) -> None:
    if again:
        raise RequestError(f"the field {name[:50]!r} stands there twice; one would be lost")
