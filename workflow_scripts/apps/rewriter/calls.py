"""A request of the page, as a command and as a program would make it."""

import json
import shlex
from dataclasses import fields

from workflow_scripts.stages.rewrite.requests import Request


def curl(address: str, request: Request) -> str:
    """Return the command that makes a request, for a shell.

    Args:
        address: of the service, with a slash at its end.
        request: to make.
    """
    said = {
        field.name: getattr(request, field.name)
        for field in fields(request)
        if getattr(request, field.name) != field.default
    }
    body = shlex.quote(json.dumps(said, ensure_ascii=False))
    return f"curl {address}api/paraphrase -H 'Content-Type: application/json' -d {body}"


def python(paraphraser: str, request: Request) -> str:
    """Return the five lines of Python that make a request."""
    words = {"keep": list(request.use), "avoid": list(request.avoid)}
    wishes = "".join(f", {name}={wished!r}" for name, wished in words.items() if wished)
    if request.at_least is not None:
        wishes += f", at_least={request.at_least}"
    return (
        "import paraloom\n\n"
        f"paraphraser = {paraphraser}\n"
        f"for p in paraphraser({request.text!r}, n={request.number}{wishes}):\n"
        "    print(p.probability, p.text)"
    )
