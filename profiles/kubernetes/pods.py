"""Snakemake's jobs as Kubernetes jobs of one pod each, by way of `kubectl`.

All pods mount one volume, at one path; repository, `.venv`, working directory and bitext lie there.
"""

import json
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any

_DAY_SECONDS = 86400


def job_properties(script: Path) -> dict[str, Any]:
    """Return what Snakemake writes into the second line of a job's script."""
    line = script.read_text(encoding="utf-8").splitlines()[1]
    return json.loads(line.removeprefix("# properties = "))


def manifest(
    name: str, script: Path, folder: Path, environment: dict[str, str], properties: dict[str, Any]
) -> dict[str, Any]:
    """Return the Kubernetes job that runs a script in a folder.

    What the pod asks for is also its limit: one that takes more memory is killed, and so is one
    that takes longer. Whether it is tried again is for Snakemake to say.

    Args:
        name: of the job.
        script: an absolute path on the volume.
        folder: the working directory.
        environment: variables of the pod.
        properties: `threads`, and `resources` with `mem_mb`, `runtime` (minutes), `gpu` if any, and
            where to run: `kubernetes_image`, `kubernetes_volume` (`claim:path`).
    """
    resources = properties["resources"]
    claim, _, path = resources["kubernetes_volume"].partition(":")
    limits = {"cpu": str(properties["threads"]), "memory": f"{resources['mem_mb']}M"}
    if resources.get("gpu"):
        limits["nvidia.com/gpu"] = str(resources["gpu"])
    container = {
        "name": "job",
        "image": resources["kubernetes_image"],
        "command": ["/bin/sh", str(script)],
        "workingDir": str(folder),
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        "resources": {"requests": limits, "limits": limits},
        "volumeMounts": [{"name": "shared", "mountPath": path}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {"app": "paraloom"}},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": 60 * resources["runtime"],
            "ttlSecondsAfterFinished": _DAY_SECONDS,
            "template": {
                "metadata": {"labels": {"app": "paraloom"}},
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [container],
                    "volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": claim}}],
                },
            },
        },
    }


def submit(script: Path) -> str:
    """Create the job of a script; return `<namespace>/<name>`.

    Raises:
        subprocess.CalledProcessError: the cluster refused it.
    """
    properties = job_properties(script)
    namespace = properties["resources"]["kubernetes_namespace"]
    name = f"paraloom-{uuid.uuid4().hex}"
    # The programs of `.venv` come first there as here; Python imports nothing from the working
    # directory.
    environment = {"PATH": os.environ["PATH"], "PYTHONSAFEPATH": "1"}
    job = manifest(name, script.resolve(), Path.cwd(), environment, properties)
    _kubectl(namespace, "create", "--filename=-", given=json.dumps(job))
    return f"{namespace}/{name}"


def status(job: str) -> str:
    """Return `running`, `success` or `failed`; a job that is gone has failed.

    While the cluster does not answer, a job counts as running.
    """
    namespace, _, name = job.partition("/")
    try:
        answer = _kubectl(namespace, "get", "job", name, "--ignore-not-found", "--output=json")
    except subprocess.CalledProcessError:
        return "running"
    if not answer.strip():
        return "failed"
    conditions = json.loads(answer).get("status", {}).get("conditions", [])
    true = {each["type"] for each in conditions if each["status"] == "True"}
    if "Complete" in true:
        return "success"
    return "failed" if "Failed" in true else "running"


def cancel(jobs: list[str]) -> None:
    """Delete jobs with their pods; those that are gone already do not matter.

    Raises:
        subprocess.CalledProcessError: the cluster refused to delete one; it was asked for all.
    """
    refused = None
    for job in jobs:
        namespace, _, name = job.partition("/")
        try:
            _kubectl(namespace, "delete", "job", name, "--ignore-not-found", "--wait=false")
        except subprocess.CalledProcessError as error:
            refused = error
    if refused:
        raise refused


def _kubectl(namespace: str, *arguments: str, given: str | None = None) -> str:
    done = subprocess.run(
        ["kubectl", f"--namespace={namespace}", *arguments],
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout
