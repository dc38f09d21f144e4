"""Checks of `clean` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.plan.config import Config

# The codes that the detector of languages knows (a test compares them).
DETECTED = (  # noqa: SIM905 - a list would take as many lines as it has codes
    "ace af am an ar ary arz as az ba bcl be bg bn br bs ca crh cs cy da de dz el en eo es et "
    "eu ext fa fi fo fr fuv fy ga gcf gcr gd gl gom grc gu gug guw ha hbo he hi hr ht hu hy "
    "id ig is it ja jv ka kab kik kk km kn ko ku ky la lb lg lij ln lo lt ltg lv mg mk ml mn "
    "mr ms mt my ne nl nn no nso oc om or pa pcm pl ps pt qu ro ru rw sa sdh se si sk sl sn "
    "so sq sr st sv sw ta te tg th tk tl tr tt ug uk ur uz uzs vec vi vo wa wuu xh yo yue zh "
    "zu"
).split()


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the limits of cleaning."""
    for side in config["clean"].get("language_confidence", {}):
        code = config["languages"][side]["code"]
        if code not in DETECTED:
            yield (
                f"clean.language_confidence.{side}: the detector does not know '{code}'; take the "
                f"key out. It knows {', '.join(DETECTED)}"
            )
    ignored = ["language_confidence"] if config["clean"].get("language_confidence") else []
    ignored += ["entities"] if config["clean"].get("entities") == "reject" else []
    if ignored and not config["clean"].get("filter", True):
        yield f"clean.filter: false rejects nothing by {' or '.join(ignored)}; take one of them out"
    if config["clean"]["min_words"] > config["clean"]["max_words"]:
        yield "clean: min_words is greater than max_words"
