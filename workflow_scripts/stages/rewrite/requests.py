"""What a rewriter is asked, and what it answers: the form of both as JSON, and its bounds."""

import unicodedata
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from jsonschema import Draft202012Validator

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.stages.rewrite.spellings import at_start, plain

MOST_CHARACTERS = 2000
MOST_WORDS = 20
MOST_RESULTS = 20
LONGEST = 100  # characters of a word
_WORD = {"type": "string", "minLength": 1, "maxLength": LONGEST}

# What the JSON of a request may be; the OpenAPI document of the service shows it, too.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {
        "text": {
            "type": "string",
            "minLength": 1,
            "maxLength": MOST_CHARACTERS,
            "description": "The sentence.",
        },
        "avoid": {
            "type": "array",
            "maxItems": MOST_WORDS,
            "items": _WORD,
            "default": [],
            "description": "Words or phrases that no paraphrase may have, in whatever case.",
        },
        "avoid_forms": {
            "type": "boolean",
            "default": False,
            "description": "Avoid their inflections too (English only).",
        },
        "avoid_pieces": {
            "type": "boolean",
            "default": False,
            "description": "Let the search know every way to write them in sub-word pieces. "
            "Paraphrases that have an avoided word are left out in any case; so the search finds "
            "others in their place.",
        },
        "use": {
            "type": "array",
            "maxItems": MOST_WORDS,
            "items": _WORD,
            "default": [],
            "description": "Words or phrases that every paraphrase must have.",
        },
        "use_forms": {
            "type": "boolean",
            "default": False,
            "description": "Any inflection of them will do (English only), and a capital letter "
            "where they begin the sentence.",
        },
        "template": {
            "type": ["string", "null"],
            "maxLength": 300,
            "default": None,
            "description": "The syntax that is wanted, such as (S (NP) (VP) (.)): the top two "
            "levels of a tree, of labels that the rewriter knows.",
        },
        "number": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_RESULTS,
            "default": 1,
            "description": "How many paraphrases to return at most, best first. Beam search finds "
            "as many as its beam holds. With a system: for each set of words that it chooses.",
        },
        "at_least": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 1,
            "default": None,
            "description": "There and back alone: the least probability of a paraphrase, as the "
            "judge says; 0 gives all. Null: what the system paraloom asks for; all, where no label "
            "is in the language.",
        },
        "samples": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_RESULTS,
            "default": 0,
            "description": "Draw so many samples instead of a beam search; not together with "
            "words to use.",
        },
        "system": {
            "type": ["string", "null"],
            "maxLength": 100,
            "default": None,
            "description": "A system of the configuration chooses the words from the sentence: "
            "its name, or NAME:VARIANT for one of its variants.",
        },
        "seed": {
            "type": "integer",
            "minimum": 0,
            "maximum": 2**31 - 1,
            "default": 1,
            "description": "Of samples and of words chosen at random.",
        },
        "id": {
            "type": ["string", "integer", "null"],
            "maxLength": 200,
            "default": None,
            "description": "Comes back with the answer; it changes nothing.",
        },
    },
}
_VALIDATOR = Draft202012Validator(SCHEMA)

# What messages say of a value that breaks a bound of the schema.
_SAID = {
    "maxLength": "is longer than {} characters; shorten it",
    "maxItems": "has more than {} entries; take some out",
    "minLength": "is empty; write something, or take it out",
    "minimum": "is below {}",
    "maximum": "is above {}",
}


class RequestError(InputError):
    """A request that can't be answered, and how to mend it."""


@dataclass(frozen=True)
class Request:
    """A sentence to paraphrase; the fields are those of `SCHEMA`."""

    text: str
    avoid: tuple[str, ...] = ()
    avoid_forms: bool = False
    avoid_pieces: bool = False
    use: tuple[str, ...] = ()
    use_forms: bool = False
    template: str | None = None
    number: int = 1
    at_least: float | None = None
    samples: int = 0
    system: str | None = None
    seed: int = 1
    id: str | int | None = None


@dataclass(frozen=True)
class Paraphrase:
    """One paraphrase.

    `score`: NLL in nats per token, </s> included; lower is better. `meaning`: cosine of its
    embedding with the sentence's, 0 to 100; None where there is no encoder for the language.
    `difference`: share of the words and marks that differ from the sentence's, 0 to 100. `variant`:
    whose words it was found with, where a system chose them.
    """

    text: str
    score: float
    meaning: float | None
    difference: float
    variant: str | None = None


@dataclass(frozen=True)
class Answer:
    """The paraphrases of a request, best first: none of them breaks a constraint.

    `avoided`, `used`: the constraints as they were, a system's choice among them; `unknown`: words
    of the sentence that the rewriter can't read, so that no paraphrase says what they say;
    `constraints_met`: whether there is a paraphrase, all of which were read again for them; `why`:
    None, or why there is no paraphrase.
    """

    request: Request
    paraphrases: list[Paraphrase]
    avoided: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    why: str | None = None

    @property
    def constraints_met(self) -> bool:
        """Whether there is a paraphrase; none breaks a constraint."""
        return bool(self.paraphrases)

    def fields(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return {
            "id": self.request.id,
            "text": self.request.text,
            "paraphrases": [asdict(paraphrase) for paraphrase in self.paraphrases],
            "constraints_met": self.constraints_met,
            "avoided": self.avoided,
            "used": self.used,
            "unknown": self.unknown,
            "why": self.why,
        }


def clean(text: str) -> str:
    """Return a text in NFC on one line: control characters count as blanks, runs of these as one.

    Raises:
        RequestError: half of a surrogate pair is no text.
    """
    _no_halves(text)
    spaced = (" " if unicodedata.category(character) == "Cc" else character for character in text)
    return " ".join(unicodedata.normalize("NFC", "".join(spaced)).split())


def _no_halves(text: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise RequestError("half of a surrogate pair (\\ud800 to \\udfff) is no text; take it out")


def request_of(value: Any) -> Request:
    """Return the request that a JSON value says.

    Raises:
        RequestError: it says none; the message names the key.
    """
    # An unknown key may be what is missing, misspelt: it is told first.
    for error in sorted(_VALIDATOR.iter_errors(value), key=lambda fault: fault.validator):
        raise RequestError(_problem(error, value))
    # In JSON 2.0 is a whole number too.
    values: dict[str, Any] = {
        key: int(item) if isinstance(item, float) and item.is_integer() else item
        for key, item in value.items()
    }
    for key in ("text", "template", "system"):
        if values.get(key) is not None:
            values[key] = clean(values[key])
    if isinstance(values.get("id"), str):
        _no_halves(values["id"])
    if not plain(values["text"]).strip():
        raise RequestError("'text': there is no sentence; write one")
    for key in ("avoid", "use"):
        values[key] = tuple(dict.fromkeys(map(clean, values.get(key, ()))))
        if not all(any(map(str.isalnum, at_start(word)[1])) for word in values[key]):
            raise RequestError(f"'{key}' has a word without a letter or digit; take it out")
        # One sign may stand for eighteen letters.
        if any(len(plain(word)) > LONGEST for word in values[key]):
            raise RequestError(f"'{key}' has a word of more than {LONGEST} letters; shorten it")
    return Request(**values)


def _problem(error: Any, value: Any) -> str:
    """Return one line about a fault, which does not repeat long texts."""
    if error.validator == "additionalProperties":
        known = [key.name for key in fields(Request)]
        (unknown, *_) = [key for key in value if key not in known]
        return f"unknown key {unknown[:50]!r}{suggestion(unknown[:50], known)}"
    if error.validator == "required":
        return "key 'text' is missing: the sentence"
    where = "".join(f"[{key}]" if isinstance(key, int) else f"'{key}'" for key in error.path)
    limit = error.validator_value
    if error.validator == "type":
        said = f"must be of the type {limit if isinstance(limit, str) else ' or '.join(limit)}"
    else:
        said = _SAID[error.validator].format(limit)
    return f"{where or 'the request'} {said}"
