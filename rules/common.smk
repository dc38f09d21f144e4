# What all rules use: the plan of the run, and what a job reads and is told.
import functools
import hashlib
import logging
import os
import re
import shlex
import sys

sys.path.insert(0, BASEDIR)
# Where Snakemake's log can't be written, on a full disk, a traceback for each of its lines would bury
# what the jobs say.
logging.raiseExceptions = False

from snakemake.exceptions import WorkflowError

from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.environment import require_good_place, require_utf8
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.finished import trained_anew
from workflow_scripts.plan.layout import unit_name
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.core.files.yaml_text import require_single_keys
from workflow_scripts.plan.resolve import require_given_once
from workflow_scripts.stages.catalogue import run_layout

PATHS = workflow.modifier.path_modifier
if PATHS.prefix or PATHS.modifies_prefixes:
    raise WorkflowError(
        "the module of Paraloom has a prefix: of its files, which its commands don't know; take "
        "it out, and set results and downloads in the config: of the module"
    )

try:
    require_utf8()
    require_good_place(BASEDIR)
    # Snakemake deletes PYTHONPATH from conda jobs; the stages are modules below the Snakefile. The
    # strict mode is Snakemake's own default, which a prefix replaces.
    shell.prefix(f"set -euo pipefail; export PYTHONPATH={shlex.quote(BASEDIR)} PYTHONSAFEPATH=1; ")
    if workflow.is_main_process:
        require_given_once("--configfile", "--configfiles")
        require_given_once("--config", "-C")
        for path in workflow.configfiles:
            require_single_keys(path)
    LAYOUT = run_layout(config)
    if workflow.is_main_process:
        for note in (*LAYOUT.notes(), *trained_anew(LAYOUT)):
            print(f"note: {note}", file=sys.stderr)
except InputError as error:
    raise WorkflowError(str(error)) from None

SYSTEMS = LAYOUT.config["run"]["systems"]
# A job's shell gets the whole command as one argument, of 128 KiB at most; it has few of these.
ARGUMENT_BYTES = 16384
# Given to jobs as resources: unlike params, another value is no reason to run again.
COMPUTE = config["compute"]
# The names of the shards of the bitext.
EARLY = LAYOUT.shard_names("clean")


def one_of(values):
    """The pattern of a wildcard with these values; without any nothing matches it."""
    return f"(?:{'|'.join(map(re.escape, values))})" if values else "(?!)"


def stage_wildcards():
    """The patterns of the wildcards that stages declare."""
    return {
        wildcard: one_of(values)
        for stage in LAYOUT.stages
        for wildcard, values in stage.wildcards().items()
    }


def argument(value):
    """A value as one argument of a command: canonical JSON, or `@` and the file that holds it.

    Snakemake stores params as a set without names, in which two swapped values go unseen.
    """
    text = canonical(value)
    if len(text.encode("utf-8")) < ARGUMENT_BYTES:
        return text
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    path = f"{config['results']}/.arguments/{digest}.json"
    if not workflow.dryrun and not os.path.exists(path):
        write_text(path, text)
    return f"@{path}"


def listed(values):
    """Values as words of a command, or `@@` and the file that holds them: see `cli.words`."""
    values = [str(value) for value in values]
    text = argument(values)
    return [f"@{text}"] if text.startswith("@") else values


def declared(stage, name, wildcards):
    """What a stage declares of one of its jobs, or the layout of one of no stage: see `Job`."""
    declares = LAYOUT.declaration(stage) if stage else LAYOUT
    return getattr(declares, f"{name}_job")(wildcards)


def reads(stage, name):
    """Input function, for `unpack`: the files that a job reads.

    The job of a finished unit reads the user's files alone: what the unit was made of may be gone.
    With `ancient` inputs it would still stand between jobs. Snakemake passes over all that depends on
    a job that must run, since the one leads to the other; through a finished unit it does not, and
    what stands behind it would be left unmade. And it would make again what is gone.
    """

    def files(wildcards):
        job = declared(stage, name, wildcards)
        users = {"users": [ancient(path) for path in job.users]}
        # The manifest is what a trained unit may lack that is spared otherwise.
        if is_spared(wildcards, with_trained=stage is not None):
            return users
        named = {option: path for option, path in job.reads.items() if path}
        return {**named, "awaits": list(job.awaits), **users}

    return files


def command(stage, name):
    """Params function: the command line of a job, as a list of words."""

    def line(wildcards, output):
        job = declared(stage, name, wildcards)
        # A manifest's rule is of every stage.
        unit = (stage or wildcards.unit.partition("/")[0], job.instance)
        require_version(unit, wildcards)
        options = {"output": output[0] if output else None, **job.reads}
        options.update((name, output[name]) for name in job.outputs)
        if job.config:
            options["config"] = settings_argument(unit)
        if job.inputs:
            options["inputs"] = inputs_argument(unit)
        room = "stages." if stage else ""
        return [f"{room}{job.command}", *words_of({**options, **job.options})]

    return line


def words_of(options):
    """The words of a command line, which `core/command.py` reads: options by name, without empty ones."""
    words = []
    for name, value in options.items():
        if value is None or value == []:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if isinstance(value, list):
            words += listed(value)
        else:
            words.append(argument(value) if isinstance(value, dict) else str(value))
    return words


def run(*machine):
    """The shell of a job: its command, and what it is told of the machine: `--device cpu`.

    That is given as resources: unlike params, another value is no reason to run again.
    """
    fields = {name: f"resources.{name}" for name in machine} | {"threads": "threads"}
    options = [f" --{name.replace('_', '-')} {{{fields[name]}:q}}" for name in machine]
    return f"python -m workflow_scripts.{{params.command:q}}{''.join(options)} 2>&1 | tee {{log:q}}"


def require_version(unit, wildcards):
    """End with an error where a folder was asked for that is not of this configuration."""
    version = getattr(wildcards, "version", None)
    if version is not None and version != LAYOUT.key(*unit):
        raise WorkflowError(
            f"{unit_name(*unit)}/{version} is not of this configuration, whose version is "
            f"{LAYOUT.key(*unit)}"
        )


def is_spared(wildcards, with_trained=True):
    """Whether a job is of a finished unit, or of a trained one of which the manifest is missing."""
    if not workflow.is_main_process or not hasattr(wildcards, "version"):
        return False
    return wildcards.version in spared_versions(with_trained)


def grows(first):
    """Resource function: so much at the first attempt, twice that at the second, and so on.

    A job that was killed for want of memory or time gets more when it is retried.
    """
    return lambda wildcards, attempt: first * attempt


# Snakemake asks for params several times, and a corpus may have many thousands of files.
@functools.cache
def settings_argument(unit):
    return argument(LAYOUT.settings(unit))


@functools.cache
def inputs_argument(unit):
    return argument(LAYOUT.declaration(unit[0]).inputs(unit[1]))


def download_url(wildcards):
    """Resource function: where a file that is kept by its hash is downloaded from."""
    wanted = (wildcards.sha256, wildcards.file)
    urls = [url for stage in LAYOUT.stages if (url := stage.url(*wanted))]
    if not urls:
        raise WorkflowError(f"nothing of this run is downloaded to {'/'.join(wanted)}")
    return urls[0]
