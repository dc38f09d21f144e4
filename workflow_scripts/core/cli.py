import sys
from collections.abc import Callable

from workflow_scripts.core.errors import InputError


def run(main: Callable[[], int | None]) -> None:
    """Run a stage's `main` and exit: 0, or 2 with the bare message of an `InputError`."""
    try:
        sys.exit(main())
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
