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

from workflow_scripts.plan import selection
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.plan.catalogues.encoder_blocks import MODULES, PLAIN
from workflow_scripts.plan.catalogues.encoder_tasks import PLAIN_STATE, TUNED_STATE
from workflow_scripts.core.environment import require_good_place, require_utf8
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.layout import unit_name
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.stages.corpus.stage import Corpus
from workflow_scripts.stages.embed.stage import Embed
from workflow_scripts.stages.encoder.stage import Encoder
from workflow_scripts.stages.evaluate.stage import Evaluate
from workflow_scripts.stages.filter.stage import Filter
from workflow_scripts.stages.judge.stage import Judge
from workflow_scripts.stages.release.stage import Release
from workflow_scripts.stages.rewrite.stage import Rewrite
from workflow_scripts.stages.select.stage import Select
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.train.stage import Train

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
    LAYOUT = run_layout(config)
    if workflow.is_main_process:
        for note in LAYOUT.notes():
            print(f"note: {note}", file=sys.stderr)
except InputError as error:
    raise WorkflowError(str(error)) from None

# The declarations of stages that the functions below ask more than the layout does.
CORPUS, TRAIN = map(LAYOUT.stage, (Corpus, Train))
JUDGE, SELECT = map(LAYOUT.stage, (Judge, Select))
FILTER, EMBED, EVALUATE, RELEASE = map(LAYOUT.stage, (Filter, Embed, Evaluate, Release))
REWRITE, ENCODER = map(LAYOUT.stage, (Rewrite, Encoder))
SYSTEMS = config["run"]["systems"]
# The tables of the release: `module:function` by name.
TABLES = RELEASE.released_tables()
# The unit with the bitext that models are trained on.
PAIRS = selection.pairs(config)
# The unit with the scores of the references themselves, which not every run has.
REFERENCE_SCORES = ("score", "references")
# A job's shell gets the whole command as one argument, of 128 KiB at most; it has few of these.
ARGUMENT_BYTES = 16384
# Given to jobs as resources: unlike params, another value is no reason to run again.
COMPUTE = config["compute"]
EARLY = LAYOUT.shard_names("clean")
LATE = LAYOUT.shard_names("select")


def one_of(values):
    """The pattern of a wildcard with these values; without any nothing matches it."""
    return "|".join(map(re.escape, values)) or r"(?!)"


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
        told = {option: path for option, path in job.reads.items() if path}
        return {**told, "awaits": list(job.awaits), **users}

    return files


def command(stage, name):
    """Params function: the command line of a job, as a list of words."""

    def line(wildcards, output):
        job = declared(stage, name, wildcards)
        unit = (stage, job.instance)
        if stage:
            require_version(unit, wildcards)
        options = {"output": output[0] if output else None, **job.reads}
        options.update((each, output[each]) for each in job.outputs)
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
    fields = {each: f"resources.{each}" for each in machine} | {"threads": "threads"}
    told = [f" --{each.replace('_', '-')} {{{fields[each]}:q}}" for each in machine]
    return f"python -m workflow_scripts.{{params.command:q}}{''.join(told)} 2>&1 | tee {{log:q}}"


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


def instance_of(stage, wildcards, instance=None):
    """The named instance, in which wildcards may stand; without a name, the job's own."""
    if instance is not None:
        return instance.format(**wildcards)
    wildcard = LAYOUT.declaration(stage).wildcard
    return getattr(wildcards, wildcard) if wildcard else None


def unit_file(stage, name, instance=None):
    """Input function: a file in the folder of a unit, of the job's own instance by default."""

    def path(wildcards):
        unit = (stage, instance_of(stage, wildcards, instance))
        return f"{LAYOUT.folder(*unit)}/{name}".format(**wildcards)

    return path


def unit_folder(stage, instance=None):
    """Params function: the folder of a unit, of the job's own instance by default."""
    return lambda wildcards: LAYOUT.folder(stage, instance_of(stage, wildcards, instance))


def unit_config(stage, instance=None):
    """Params function: the unit's settings as one argument."""

    def text(wildcards):
        unit = (stage, instance_of(stage, wildcards, instance))
        version = getattr(wildcards, "version", None)
        if version is not None and version != LAYOUT.key(*unit):
            raise WorkflowError(
                f"{'/'.join(filter(None, unit))}/{version} is not of this configuration, "
                f"whose version is {LAYOUT.key(*unit)}"
            )
        return settings_argument(unit)

    return text


# Snakemake asks for params several times, and a corpus may have many thousands of files.
@functools.cache
def settings_argument(unit):
    return argument(LAYOUT.settings(unit))


@functools.cache
def inputs_argument(unit):
    return argument(LAYOUT.declaration(unit[0]).inputs(unit[1]))


@functools.cache
def description_argument(unit):
    return argument(LAYOUT.description(unit))


def unit_inputs(stage, instance=None):
    """Params function: the hashes of the user's files that a unit's jobs read, by path."""

    def text(wildcards):
        return inputs_argument((stage, instance_of(stage, wildcards, instance)))

    return text


def upstream_of(stage, wildcards):
    """The one unit that the job's unit of this stage reads."""
    (unit,) = LAYOUT.upstream((stage, instance_of(stage, wildcards)))
    return unit


def upstream_folder(stage):
    """Params function: the folder of the one unit that the job's unit of this stage reads."""
    return lambda wildcards: LAYOUT.folder(*upstream_of(stage, wildcards))


def upstream_file(stage, name):
    """Input function: a file in that folder."""
    folder = upstream_folder(stage)
    return lambda wildcards: f"{folder(wildcards)}/{name}".format(**wildcards)


def read_manifests(stage, instance):
    """Input function: the manifests of all units that this one reads."""

    def paths(wildcards):
        units = LAYOUT.upstream((stage, instance_of(stage, wildcards, instance)))
        return [manifest_path(unit) for unit in units]

    return paths


def sts_files(wildcards):
    """Input function: the files of the data sets that embeddings are tested on."""
    return EMBED.sts_files()


def embedding_files(wildcards):
    """Input function: the files that an embedding starts from and is chosen by."""
    files = EMBED.embedding_files(wildcards.embedding)
    return [file for each in files.values() for file in each]


def training_pairs(wildcards):
    """Input function: the training set of an embedding."""
    unit = ("filter", EMBED.embeddings[wildcards.embedding]["training_set"])
    return f"{LAYOUT.folder(*unit)}/pairs.parquet"


def column_embedding(wildcards):
    """Params function: the folder of the embedding behind a column."""
    return LAYOUT.folder(*FILTER.embedding_of(wildcards.embedding_column, wildcards.system))


def column_embedding_model(wildcards):
    """Input function: the record of that model, which covers the whole folder."""
    return f"{column_embedding(wildcards)}/model.json"


def encoder_column(wildcards):
    """Params function: the folder of the encoder behind a column."""
    return LAYOUT.folder(*FILTER.encoder_of(wildcards.encoder_column))


def encoder_column_model(wildcards):
    """Input function: the record of that encoder, which covers the whole folder."""
    return f"{encoder_column(wildcards)}/model.json"


def vectors_file(wildcards):
    """Input function: the word vectors behind a column."""
    return FILTER.settings(f"{wildcards.vectors}-{wildcards.system}")["file"]


def classifier_vectors(wildcards):
    """Input function: the word vectors that a classifier starts from, if there are any."""
    settings = FILTER.settings(f"{wildcards.classifier}-{wildcards.system}")
    return [settings["vectors"]] if settings.get("vectors") else []


def feature_options(wildcards):
    """Params function: the files of other units that a column needs that is a feature."""
    units = FILTER.feature_units(wildcards.feature)
    shard = f"{wildcards.shard}.parquet"
    files = {
        "words": ("--words", "words.txt"),
        "grammar": ("--grammar", "model.json"),
        "references": ("--reference-scores", shard),
    }
    options = [(files[purpose], LAYOUT.folder(*unit)) for purpose, unit in units.items()]
    return [word for (option, name), folder in options for word in (option, f"{folder}/{name}")]


def feature_reads(wildcards):
    """Input function: the same files."""
    return feature_options(wildcards)[1::2]


def feature_encoder(wildcards):
    """Input function: the files of the encoder behind a column; none of a package."""
    record = FILTER.encoder_record(wildcards.feature)
    files = FILTER.encoder_files(f"{wildcards.feature}-{wildcards.system}")
    return [record] if record else list(files.values())


def training_set_values(wildcards):
    """Params function: `<column>=<folder>` of the columns that a model computed for it."""
    return named_folders(FILTER.training_set_columns(wildcards.training_set))


def training_set_shards(wildcards):
    """Params function: the number of shards of the pairs that a training set is chosen from."""
    return len(LAYOUT.shard_names("filter", FILTER.system_of(wildcards.training_set)))


def outside_files(wildcards):
    """Input function: the files of a pair corpus from outside."""
    return list(FILTER.inputs(wildcards.outside))


def statistics_columns(wildcards):
    """The units of the columns that a model computes and the statistics of a system show."""
    return EVALUATE.columns(wildcards.system)


def statistics_values(wildcards):
    """Params function: `<column>=<folder>` of these columns."""
    return named_folders(statistics_columns(wildcards))


def statistics_manifests(wildcards):
    """Input function: the manifests of the pairs and of these columns."""
    units = [("filter", wildcards.system), *statistics_columns(wildcards).values()]
    return [manifest_path(unit) for unit in units]


def named_folders(units):
    return [f"{name}={LAYOUT.folder(*unit)}" for name, unit in units.items()]


def download_url(wildcards):
    """Resources function: where a file that is kept by its hash is downloaded from."""
    wanted = (wildcards.sha256, wildcards.file)
    url = CORPUS.url(*wanted) or TRAIN.url(*wanted)
    if url is None:
        raise WorkflowError(
            f"no corpus or model of this run is downloaded to {wildcards.sha256}/{wildcards.file}"
        )
    return url


def finished_model_files(wildcards):
    """Input function: the files that a finished model is taken over from; none of a package."""
    return TRAIN.input_files(wildcards.finished_role)


def finished_model_pairs(wildcards):
    """Params function: the folder of the pairs that a finished model is measured on."""
    (unit,) = LAYOUT.upstream(("train", wildcards.finished_role))
    return LAYOUT.folder(*unit)


def tree_manifest(wildcards):
    """Input function: the manifest of the job's trees, where sentences are parsed."""
    return [manifest_path(("syntax", wildcards.system))] if selection.parsed(config) else []


def tree_options(wildcards):
    """Params function: the option that names the folder of the trees, where there is one."""
    return (
        ["--trees", LAYOUT.folder("syntax", wildcards.system)] if selection.parsed(config) else []
    )


def judge_instance(wildcards):
    """The instance of the stage judge that a job is for: a judge that is fitted, or a system."""
    return getattr(wildcards, "fitted", None) or wildcards.system


def judge_files(wildcards):
    """Input function: the user's files and downloads that a job of the stage judge reads."""
    return JUDGE.input_files(judge_instance(wildcards))


def judge_units(wildcards):
    """Input function: what a job of the stage judge reads of other units, but for a shard's scores."""
    return list(judge_inputs(wildcards).values())


def judge_inputs(wildcards):
    """The same files, by the options that name them; a folder goes by its record."""
    instance = judge_instance(wildcards)
    read = LAYOUT.upstream(("judge", instance))
    files = JUDGE.model_files(instance)
    for role in ("forward", "backward"):
        if ("train", role) in read:
            files[f"--{role}"] = f"{LAYOUT.folder('train', role)}/model.json"
    if REFERENCE_SCORES in read:
        files["--references"] = f"{LAYOUT.folder(*REFERENCE_SCORES)}/{wildcards.shard}.parquet"
    return files


def judge_options(wildcards):
    """Params function: the options that name these files, or the folders of translation models."""
    options = []
    for option, path in judge_inputs(wildcards).items():
        folder = option in ("--forward", "--backward")
        options += [option, os.path.dirname(path) if folder else path]
    return options


def pieces_folder(wildcards):
    """Params function: the folder with the vocabulary by which the pieces of a system count."""
    return LAYOUT.folder(*SELECT.pieces(wildcards.system))


def pieces_file(wildcards):
    """Input function: the record of that vocabulary, or of the model that it belongs to."""
    return f"{pieces_folder(wildcards)}/model.json"


def bilingual_folders(wildcards):
    """Params function: the scored candidates that those of a rewriter are compared with."""
    return [LAYOUT.folder("score", system) for system in EVALUATE.bilingual(wildcards.system)]


def bilingual_manifests(wildcards):
    """Input function: their manifests."""
    return [manifest_path(("score", system)) for system in EVALUATE.bilingual(wildcards.system)]


def answers_file(wildcards):
    """Input function: the file of right answers that paraphrases are compared with."""
    path = EVALUATE.answers_file()
    return [path] if path else []


def documents_file(wildcards):
    """Input function: the file whose lines are the documents of IDF, if the run has one."""
    path = EVALUATE.documents_file()
    return [path] if path else []


def documents_options(wildcards):
    """Params function: the option that names that file, if there is one."""
    path = EVALUATE.documents_file()
    return ["--documents", path] if path else []


def rewriter_training_sets(wildcards):
    """Input function: the training sets that a rewriter learns from."""
    units = [unit for unit in LAYOUT.upstream(("rewrite", f"{wildcards.rewriter}-pairs"))]
    return [f"{LAYOUT.folder(*unit)}/pairs.parquet" for unit in units if unit[0] == "filter"]


def encoder_training_pairs(wildcards):
    """Input function: the training set that an encoder learns from."""
    unit, *_ = LAYOUT.upstream(("encoder", f"{wildcards.encoder}-pairs"))
    return f"{LAYOUT.folder(*unit)}/pairs.parquet"


def encoder_embedding_folder(wildcards):
    """Params function: the folder of the embedding that finds an encoder's negatives."""
    return LAYOUT.folder(*ENCODER.embedding_of(wildcards.encoder))


def encoder_embedding_model(wildcards):
    """Input function: the record of that embedding."""
    return f"{encoder_embedding_folder(wildcards)}/model.json"


def encoder_scratch_model(wildcards):
    """Input function: the record of the encoder from scratch that is tuned, if it is one."""
    units = [unit for unit in LAYOUT.upstream(("encoder", wildcards.encoder))]
    return [f"{LAYOUT.folder(*unit)}/model.json" for unit in units[1:]]


def encoder_base_options(wildcards):
    """Params function: the option that names its folder."""
    return [
        word
        for path in encoder_scratch_model(wildcards)
        for word in ("--base", os.path.dirname(path))
    ]


def encoder_state_model(wildcards):
    """Input function: the record of an encoder in one of its states, if a unit made it."""
    if wildcards.encoder_state == TUNED_STATE:
        return [f"{LAYOUT.folder('encoder', wildcards.encoder)}/model.json"]
    return encoder_scratch_model(wildcards)


def encoder_state_options(wildcards):
    """Params function: the option that names its folder."""
    return [
        word
        for path in encoder_state_model(wildcards)
        for word in ("--encoder", os.path.dirname(path))
    ]


def encoder_task_files(wildcards):
    """Input function: the user's files of a task."""
    return ENCODER.task_files()[wildcards.encoder_task]


def encoder_left_out_files(part):
    """Input function: the user's files of tasks whose texts an encoder must not learn from."""

    def files(wildcards):
        return ENCODER.left_out_files(f"{wildcards.encoder}{part}")

    return files


def encoder_task_folder(wildcards):
    """Params function: their folder."""
    return os.path.dirname(encoder_task_files(wildcards)[0])


def encoder_answers(state):
    """Input function: what an encoder in one of its states answered in all tasks."""

    def files(wildcards):
        folder = LAYOUT.folder("encoder", f"{wildcards.encoder}-tasks")
        return [f"{folder}/{name}.jsonl" for name in ENCODER.answers(state)]

    return files


def encoder_base(wildcards):
    """Input function: the files of an encoder of the user's that is tuned; none of a package."""
    record = ENCODER.base_record(wildcards.encoder)
    return [record] if record else list(ENCODER.base_files(wildcards.encoder).values())


def rewriter_named(wildcards):
    """Return the rewriter that the wildcards name, whichever of them does."""
    names = ("rewriter", "trained_rewriter", "continued_rewriter")
    return next(getattr(wildcards, name) for name in names if hasattr(wildcards, name))


def texts_folder(wildcards):
    """Params function: the folder with the texts that a rewriter's model reads and writes."""
    return LAYOUT.folder(*REWRITE.texts(rewriter_named(wildcards)))


def texts_file(name):
    """Input function: a file in that folder."""
    return lambda wildcards: f"{texts_folder(wildcards)}/{name}".format(**wildcards)


def vocabulary_model(wildcards):
    """Input function: the record of the model whose vocabulary a rewriter takes, if it does."""
    role = REWRITE.vocabulary_role(wildcards.rewriter)
    return [f"{LAYOUT.folder('train', role)}/model.json"] if role else []


def vocabulary_options(wildcards):
    """Params function: the option that names the folder of that model."""
    return [
        word for path in vocabulary_model(wildcards) for word in ("--taken", os.path.dirname(path))
    ]


def beginning_folder(wildcards):
    """Params function: the folder of the model that a rewriter's training goes on from."""
    return LAYOUT.folder("train", REWRITE.begins_with(wildcards.continued_rewriter))


def beginning_model(wildcards):
    """Input function: the record of that model."""
    return f"{beginning_folder(wildcards)}/model.json"


def templates_table(wildcards):
    """Input function: the table of the templates that a rewriter learns, if it does."""
    if REWRITE.templates(rewriter_named(wildcards)) is None:
        return []
    return [f"{texts_folder(wildcards)}/templates.tsv"]


def templates_options(wildcards):
    """Params function: the option that names that table."""
    return [word for path in templates_table(wildcards) for word in ("--templates", path)]


def symbol_options(wildcards):
    """Params function: the same for the vocabulary of what is read; what is written has none."""
    return templates_options(wildcards) if wildcards.side == "source" else []


def rewriter_vocabulary_config(wildcards):
    """Params function: the settings of one SentencePiece model of a rewriter, as one argument."""
    return argument(REWRITE.vocabulary_settings(wildcards.rewriter, wildcards.side))


def manifest_path(unit):
    return f"{LAYOUT.folder(*unit)}/manifest.json"


def manifests(stage):
    """The manifests of all units of a stage."""
    return [manifest_path(unit) for unit in LAYOUT.units() if unit[0] == stage]


def upstream_manifests(wildcards):
    """Input function: the manifests of all that the unit `{unit}` reads."""
    return [manifest_path(unit) for unit in LAYOUT.upstream(unit_of(wildcards))]


def unit_of(wildcards):
    stage, _, instance = wildcards.unit.partition("/")
    return stage, instance or None


def unit_records(wildcards):
    """Input function: the records that the manifest of `{unit}` merges."""
    unit = unit_of(wildcards)
    return [f"{LAYOUT.folder(*unit)}/{name}.json" for name in LAYOUT.records(*unit)]


def awaited_files(wildcards):
    """Input function: the other files that must be there before the manifest is written."""
    stage, instance = unit_of(wildcards)
    folder = LAYOUT.folder(stage, instance)
    return [f"{folder}/{name}" for name in LAYOUT.declaration(stage).files(instance)]


def unit_description(wildcards):
    """Params function: what the manifest of `{unit}` says of it, as one argument."""
    return description_argument(unit_of(wildcards))
