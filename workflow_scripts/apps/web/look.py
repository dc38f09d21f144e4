"""How pages look: the style and the frame that they share, and what an application adds to them."""

from pathlib import Path

from jinja2 import Environment
from starlette.responses import Response
from starlette.routing import Route

from workflow_scripts.core.report.rendering import environment

_SHARED = Path(__file__).with_name("templates")


def templates(folder: Path) -> Environment:
    """Return the templates of an application, which may extend `frame.html.j2`."""
    return environment(folder, _SHARED)


def assets(folder: Path, name: str) -> list[Route]:
    """Return the routes of an application's style, behind the shared one, and of its script."""
    style = "".join(
        path.read_text(encoding="utf-8") for path in (_SHARED / "web.css", folder / f"{name}.css")
    )
    script = (folder / f"{name}.js").read_text(encoding="utf-8")
    return [
        Route(f"/{name}.css", lambda http: Response(style, media_type="text/css")),
        Route(f"/{name}.js", lambda http: Response(script, media_type="text/javascript")),
    ]
