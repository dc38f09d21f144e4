# What guards a run: whose results they are, what is finished and stays, what ends it.
import functools
from pathlib import Path

from snakemake.logging import logger

from workflow_scripts.core.files.space import advise_on_full_disks
from workflow_scripts.plan.finished import Finished
from workflow_scripts.plan.run.events import record_events
from workflow_scripts.plan.run.results_lock import ResultsLock
from workflow_scripts.plan.run.run_folders import (
    cancel_orphans,
    cancel_orphans_in,
    link_run,
    remove_stale_locks,
)

try:
    # Open as long as this process lives. Only the main Snakemake holds it: on a cluster a job's
    # own Snakemake may outlive it, and must not keep the next one from starting.
    ALIVE = remove_stale_locks() if workflow.is_main_process else None
    RESULTS_LOCK = ResultsLock(config["results"])
except InputError as error:
    raise WorkflowError(str(error)) from None


def manifest_path(unit):
    return f"{LAYOUT.folder(*unit)}/manifest.json"


def manifests(stage):
    """The manifests of all units of a stage."""
    return [manifest_path(unit) for unit in LAYOUT.units() if unit[0] == stage]


def stage_target(stage):
    """Input function of a stage's target rule: the manifests of all its units.

    And it links the run's folders, which `onstart` would leave undone after a change of
    configuration that needs no job.
    """

    def paths(wildcards):
        if workflow.executor_plugin is not None and not workflow.dryrun:
            enter_results()
            try:
                run = link_run(LAYOUT)
            except InputError as error:
                refuse(str(error))
            if workflow.is_main_process:
                record_events(run)
        more = lossy_manifests(stage) if workflow.is_main_process else []
        return [*manifests(stage), *more]

    return paths


def refuse(message):
    """End the run. Of an exception Snakemake would show its own code as well."""
    logger.error(message)
    raise SystemExit(1)


@functools.cache
def finished():
    """What is finished, asked for the first time when Snakemake knows what it was told to do.

    It then tells Snakemake which files are lost; Snakemake itself notices a lost file only where a
    job is about to read it. And it ends a run that would train a finished model again unasked.
    """
    triggers = ", ".join(sorted(map(str, workflow.rerun_triggers)))
    if triggers != "mtime":
        refuse(
            f"rerun-triggers is {triggers}: it would make finished folders again, models among "
            "them, after any change of the workflow. Write 'rerun-triggers: [mtime]' into your "
            "profile, or add --rerun-triggers mtime; all else that counts is in the names of the "
            "folders"
        )
    dag, own = workflow.dag, own_rules()
    # `-R select` names the target rule alone.
    for stage in LAYOUT.stages:
        made_by = [rule for name, rule in own.items() if name.startswith(f"{stage.name}_")]
        target = own.get(stage.name)
        if target in dag.forcerules:
            dag.forcerules.update(made_by)
        for named in (dag.omitrules, dag.untilrules):
            if target is not None and target.name in named:
                named.update(rule.name for rule in made_by)
    # A target of another workflow, of which this one is a module, may need any unit.
    strangers = set(dag.targetrules) - set(own.values())
    targets = set(LAYOUT.units()) if strangers else units_of(dag.targetrules, dag.targetfiles)
    until = units_of(map(workflow.get_rule, dag.untilrules), dag.untilfiles)
    again = units_of(dag.forcerules, dag.forcefiles)
    try:
        units = Finished(LAYOUT, again)
    except InputError as error:
        refuse(str(error))
    omitted = units_of(map(workflow.get_rule, dag.omitrules), dag.omitfiles)
    for refusal in units.refused(until or targets, omitted):
        if not (again and refusal.spared):
            refuse(refusal.message)
        logger.warning(f"{refusal.message}. It stays as it is, as you forced something else.")
    for unit in LAYOUT.all_upstream(targets) & units.files.keys():
        dag.forcefiles.update(units.files[unit])
    return units


def lossy_manifests(stage):
    """The manifests of what a stage's units were made of, as far as files of it must be made again.

    Snakemake does not come to them through units that are finished.
    """
    lossy = finished().files
    units = LAYOUT.all_upstream(unit for unit in LAYOUT.units() if unit[0] == stage)
    return [manifest_path(unit) for unit in LAYOUT.units() if unit in units & lossy.keys()]


def require_no_training():
    """End a run that would train a finished model again, for whatever reason of Snakemake's."""
    models = {
        LAYOUT.key(stage, instance)
        for stage, instance in finished().spared | finished().trained
        if LAYOUT.declaration(stage).trains(instance)
    }
    of_manifests = own_rules()["manifest"]
    for job in workflow.dag.needrun_jobs():
        version = getattr(job.wildcards, "version", None)
        if version in models and of_manifests is not job.rule:
            refuse(
                f"{', '.join(job.output)}: Snakemake would train this finished model again "
                f"({workflow.dag.reason(job)}). To keep it, give the command once with "
                f"--cleanup-metadata {' '.join(job.output)}; to train again, with --forcerun "
                f"{job.output[0]}"
            )


def require_same_content():
    """End a run with an error in which a lost unit was made again with another content."""
    changed = finished().changed_since()
    if changed:
        lines = [
            f"{unit_name(*unit)} was made of another {', '.join(unit_name(*other) for other in others)}"
            for unit, others in changed.items()
        ]
        refuse(
            "what was made again has another content than before, though not another "
            f"configuration: {'; '.join(lines)}. Give the same command again to follow it"
        )


def tell_failures():
    """Say at the end of a run which jobs failed, and why: their own words stand far above."""
    from workflow_scripts.commands.status.run_jobs import failure_lines

    failed = [
        (job.rule.name, dict(job.wildcards.items()), next(iter(job.log), None))
        for failed in workflow.scheduler.failed
        for job in (failed.jobs if failed.is_group() else [failed])
    ]
    for line in failure_lines(failed):
        print(line, file=sys.stderr)


def own_rules():
    """The rules of this workflow by the names they have here; in a module they go by others."""
    return {name: proxy.rule for name, proxy in rules._rules.items()}


def units_of(made_by, files):
    """The units that some rules make, target rules among them, and those of some files."""
    made_by = set(made_by)
    names = [f"{name}_" for name, rule in own_rules().items() if rule in made_by]
    units = [
        unit
        for unit in LAYOUT.units()
        if "all_" in names or any(name.startswith(f"{unit[0]}_") for name in names)
    ]
    folders = {Path(LAYOUT.folder(*unit)): unit for unit in LAYOUT.units()}
    return {
        *units,
        *(folders[above] for path in files for above in Path(path).parents if above in folders),
    }


@functools.cache
def spared_versions(with_trained):
    """The keys whose units are finished; `with_trained`: or trained, if only the manifest is not."""
    units = finished()
    spared = units.spared | (units.trained if with_trained else units.kept)
    others = {LAYOUT.key(*unit) for unit in LAYOUT.units() if unit not in spared}
    return {LAYOUT.key(*unit) for unit in spared} - others


def enter_results(planned=False):
    """Hold the results for this working directory; see `ResultsLock.enter`."""
    if workflow.is_main_process and workflow.execution_settings.lock:
        try:
            RESULTS_LOCK.enter(planned)
        except InputError as error:
            refuse(str(error))
