from snakemake.common.configfile import load_configfile
from snakemake.utils import min_version, update_config

min_version("9.27")


# The folder of this file: the working directory may be another, and in a module of another workflow
# `workflow.basedir` is that of the other.
BASEDIR = str(workflow.current_basedir)


configfile: f"{BASEDIR}/config.yaml"


# As a module this file gets the configuration of another workflow, for which Snakemake reads no file.
if not workflow.modifier.is_main_snakefile():
    user_config, config = config, load_configfile(f"{BASEDIR}/config.yaml")
    update_config(config, user_config)


include: "rules/common.smk"
include: "rules/guards.smk"


from workflow_scripts.core.environment import prepare_environment
from workflow_scripts.core.termination import hear_every_sigterm

prepare_environment()
# A job's own Snakemake as well: it must not outlive its job on a node.
hear_every_sigterm()


pathvars:
    results=config["results"],
    downloads=config["downloads"],


wildcard_constraints:
    **stage_wildcards(),
    shard=r"\d{4}",
    version=r"v\d+-[0-9a-f]{12}",
    system=one_of(SYSTEMS),
    side="source|reference",
    sha256="[0-9a-f]{64}",
    file=r"\w[\w.-]*(?<!\.json)",
    repository=r"[\w.-]+--[\w.-]+",
    revision="[0-9a-f]{40}",
    unit=r"[a-z_]+(/[A-Za-z][\w-]*)?",


# Snakemake's own lock is held by now, so what still runs of this workflow here has no master. Where
# files were asked for, and not a stage, the lock of the results is not yet held.
onstart:
    require_no_training()
    enter_results(planned=True)
    cancel_orphans(ALIVE)
    RESULTS_LOCK.settle(cancel_orphans_in)


# What was made again should be what its readers were made of.
onsuccess:
    require_same_content()


# Snakemake's own files, and the logs that `tee` writes, meet a full disk as well.
onerror:
    tell_failures()
    advise_on_full_disks(log, [config["results"], "."])


rule all:
    default_target: True
    input:
        stage_target("filter"),
        stage_target("embed"),
        stage_target("release"),


include: "rules/corpus.smk"
include: "rules/clean.smk"
include: "rules/subword.smk"
include: "rules/train.smk"
include: "rules/dual_filter.smk"
include: "rules/generate.smk"
include: "rules/score.smk"
include: "rules/judge.smk"
include: "rules/select.smk"
include: "rules/filter.smk"
include: "rules/embed.smk"
include: "rules/syntax.smk"
include: "rules/evaluate.smk"
include: "rules/rewrite.smk"
include: "rules/lexicon.smk"
include: "rules/transfer.smk"
include: "rules/encoder.smk"
include: "rules/release.smk"
include: "rules/manifest.smk"
