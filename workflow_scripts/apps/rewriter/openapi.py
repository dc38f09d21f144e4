"""The document that describes the API, in the form of OpenAPI 3.1."""

from typing import Any

from workflow_scripts.core.version import version
from workflow_scripts.stages.rewrite.requests import SCHEMA

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string", "description": "What is wrong, and what to do."}},
}
_PARAPHRASE = {
    "type": "object",
    "required": ["text", "score", "meaning", "difference", "variant"],
    "properties": {
        "text": {"type": "string"},
        "score": {
            "type": "number",
            "description": "NLL in nats per token, there and back the sum of both; lower "
            "is better.",
        },
        "meaning": {
            "type": ["number", "null"],
            "description": "Cosine of the embeddings, 0 to 100; null without an encoder.",
        },
        "difference": {
            "type": "number",
            "description": "Share of the words and marks that differ, 0 to 100.",
        },
        "variant": {"type": ["string", "null"], "description": "Of the system that chose words."},
        "probability": {
            "type": ["number", "null"],
            "description": "There and back alone: that it is good, as the judge says, 0 to 1.",
        },
        "source": {
            "type": ["string", "null"],
            "description": "There and back alone: the translation that it was made from.",
        },
    },
}
_ANSWER = {
    "type": "object",
    "required": [
        "id",
        "text",
        "paraphrases",
        "constraints_met",
        "avoided",
        "used",
        "unknown",
        "why",
    ],
    "properties": {
        "id": {"type": ["string", "integer", "null"]},
        "text": {"type": "string"},
        "paraphrases": {"type": "array", "items": {"$ref": "#/components/schemas/Paraphrase"}},
        "constraints_met": {
            "type": "boolean",
            "description": "Whether there is a paraphrase; each was read again for the words.",
        },
        "avoided": {"type": "array", "items": {"type": "string"}},
        "used": {"type": "array", "items": {"type": "string"}},
        "unknown": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Words of the sentence that the rewriter can't read.",
        },
        "why": {
            "type": ["string", "null"],
            "description": "Why there is none, or fewer than asked for.",
        },
    },
}
_FILE = {
    "type": "object",
    "required": ["id", "state", "total", "done", "without_paraphrase", "error"],
    "properties": {
        "id": {"type": "string"},
        "state": {"enum": ["running", "done", "cancelled", "failed"]},
        "total": {"type": "integer"},
        "done": {"type": "integer"},
        "without_paraphrase": {"type": "integer"},
        "error": {"type": ["string", "null"]},
    },
}


def document(limits: dict[str, int]) -> dict[str, Any]:
    """Return the document.

    Args:
        limits: by name: `body` and `file`, bytes; `lines` of a file; `seconds` for an answer.
    """
    identity = {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": {"type": "string"},
        "description": "What POST /api/batch gave.",
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Paraphrases",
            "version": version() or "unknown",
            "description": "Sentences with words to avoid and words to use in, paraphrases out.",
        },
        "paths": {
            "/api/paraphrase": {
                "post": {
                    "summary": "Paraphrase a sentence.",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": _ref("Request")}},
                    },
                    "responses": {
                        "200": _json("Paraphrases, or why there is none.", "Answer"),
                        "400": _json("The request can't be answered.", "Error"),
                        "403": _json("It comes from a page of another site.", "Error"),
                        "408": _json(f"It did not come within {limits['seconds']} s.", "Error"),
                        "413": _json(f"It has more than {limits['body']:,} bytes.", "Error"),
                        "415": _json("It is not application/json.", "Error"),
                        "429": _json("Too many wait; see Retry-After.", "Error"),
                        "500": _json("The search failed.", "Error"),
                        "503": _json("The service ends.", "Error"),
                        "504": _json(f"No answer within {limits['seconds']} s.", "Error"),
                    },
                }
            },
            "/api/batch": {
                "post": {
                    "summary": f"Paraphrase the lines of a file, at most {limits['lines']:,}.",
                    "requestBody": {
                        "required": True,
                        "content": {
                            kind: {"schema": {"type": "string"}}
                            for kind in (
                                "text/plain",
                                "text/tab-separated-values",
                                "application/jsonl",
                            )
                        },
                    },
                    "responses": {
                        "202": _json("It is at work.", "File"),
                        "400": _json("A line makes no request.", "Error"),
                        "403": _json("It comes from a page of another site.", "Error"),
                        "408": _json(f"It did not come within {limits['seconds']} s.", "Error"),
                        "413": _json(f"It has more than {limits['file']:,} bytes.", "Error"),
                        "415": _json("It is none of these types.", "Error"),
                        "429": _json("Too many files are at work.", "Error"),
                    },
                }
            },
            "/api/batch/{id}": {
                "parameters": [identity],
                "get": {
                    "summary": "How far a file is.",
                    "responses": {
                        "200": _json("How far it is.", "File"),
                        "404": _json("There is no such file.", "Error"),
                    },
                },
                "delete": {
                    "summary": "End the work on a file; what is done stays.",
                    "responses": {
                        "200": _json("How far it came.", "File"),
                        "404": _json("There is no such file.", "Error"),
                    },
                },
            },
            "/api/batch/{id}/results": {
                "parameters": [identity],
                "get": {
                    "summary": "The answers of a file that has ended, one on each line.",
                    "responses": {
                        "200": {
                            "description": "Answers with their line numbers.",
                            "content": {"application/jsonl": {"schema": _ref("Answer")}},
                        },
                        "404": _json("There is no such file.", "Error"),
                        "409": _json("It is still at work.", "Error"),
                        "507": _json("The results can't be stored.", "Error"),
                    },
                },
            },
            "/api/rewriter": {
                "get": {
                    "summary": "What the rewriter can do.",
                    "responses": {"200": _json("Its language and templates.", "Rewriter")},
                }
            },
        },
        "components": {
            "schemas": {
                "Request": SCHEMA,
                "Answer": _ANSWER,
                "Paraphrase": _PARAPHRASE,
                "File": _FILE,
                "Rewriter": {
                    "type": "object",
                    "required": ["language", "templates", "meaning", "most_results"],
                    "properties": {
                        "language": {"type": ["string", "null"]},
                        "templates": {"type": "array", "items": {"type": "string"}},
                        "meaning": {"type": "boolean"},
                        "most_results": {"type": "integer"},
                    },
                },
                "Error": _ERROR,
            }
        },
    }


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(description: str, name: str) -> dict[str, Any]:
    content = {"application/json": {"schema": _ref(name)}}
    return {"description": description, "content": content}
