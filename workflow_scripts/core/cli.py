import sys
from collections.abc import Callable

from workflow_scripts.core import space
from workflow_scripts.core.errors import InputError


def run(main: Callable[[], int | None]) -> None:
    """Run a stage's `main` and exit: 0, or 2 with the bare message of what the user can mend.

    That is an `InputError`, or a full disk.
    """
    try:
        sys.exit(main())
    except InputError as error:
        message = str(error)
    except Exception as error:
        if not space.is_full(error):
            raise
        message = space.message(getattr(error, "filename", None))
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)
