"""Cut a shard of a rewriter's pairs into pieces, as the stage `subword` does."""

from workflow_scripts.core.cli import run
from workflow_scripts.stages.subword.segment import main

if __name__ == "__main__":
    run(main)
