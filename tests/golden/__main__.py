"""Bring golden.json up to date.

python -m tests.golden [STAGE ...]     after raising the version of a stage
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.golden.entries import GOLDEN, VERSIONS, measured, read_golden
from tests.golden.figures import differences


def main(argv: list[str] | None = None) -> int:
    """Bring golden.json up to date with stages whose version was raised."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="all without any")
    parser.add_argument(
        "--same-version",
        action="store_true",
        help="the input or the tools of this test changed, and not what the stage does",
    )
    options = parser.parse_args(argv)
    golden, refused = read_golden(), []
    for stage in options.stages or VERSIONS:
        with tempfile.TemporaryDirectory() as folder:
            entry = measured(stage, Path(folder))
        known = golden.get(stage, entry)
        changed = differences(stage, entry["outputs"], known["outputs"])
        if changed and entry["version"] == known["version"] and not options.same_version:
            refused.append(f"{stage}: {', '.join(changed)} changed; raise its version first")
        elif changed or entry["version"] != known["version"] or stage not in golden:
            golden[stage] = entry
    text = json.dumps(golden, indent=2, sort_keys=True) + "\n"
    GOLDEN.write_text(text, encoding="utf-8")
    print("\n".join(refused or ["golden.json is up to date"]))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
