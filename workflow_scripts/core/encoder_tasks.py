"""The tasks that encoders are tuned on in `encoder_tasks`: names, and what their folders hold.

The Snakefile imports this module: only the standard library.
"""

from typing import NamedTuple

# States of an encoder: before and after it was tuned on paraphrases.
PLAIN_STATE, TUNED_STATE = "plain", "tuned"


class TaskFiles(NamedTuple):
    """What the folder of a task holds.

    Attributes:
        choices: sets of files; the first that is there whole is read.
        source: where they come from.
    """

    choices: tuple[tuple[str, ...], ...]
    source: str

    def needed(self) -> str:
        """Return the sets of files, for messages."""
        return ", or ".join(" and ".join(files) for files in self.choices)

    def chosen(self, names: set[str]) -> tuple[str, ...] | None:
        """Return the first set of files of which none is missing among `names`."""
        return next((files for files in self.choices if set(files) <= names), None)


# In the order of ParaBank 2's Tables 4 and 5, then SICK-E.
ENCODER_TASKS = {
    "QQP": TaskFiles((("train.tsv", "dev.tsv"),), "GLUE"),
    "MNLI": TaskFiles((("train.tsv", "dev_matched.tsv", "dev_mismatched.tsv"),), "GLUE"),
    "STS-B": TaskFiles(
        (("train.tsv", "dev.tsv"), ("sts-train.csv", "sts-dev.csv"), ("sts-dev.csv",)),
        "GLUE or STS Benchmark",
    ),
    "MRPC": TaskFiles(
        (
            ("train.tsv", "dev.tsv"),
            ("msr_paraphrase_train.txt", "dev_ids.tsv"),
            ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt"),
        ),
        "GLUE or Microsoft's corpus",
    ),
    "SQuAD": TaskFiles((("train-v2.0.json", "dev-v2.0.json"),), "SQuAD 2.0"),
    "SICK-E": TaskFiles(
        (("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"),), "SICK, as SentEval"
    ),
}
