"""The Kubernetes profile, with a `kubectl` that runs each job's container as a local process."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline

PROFILE = ROOT / "profiles" / "kubernetes"
CORPORA = [f"corpus.{name}" for name in ("train", "held_out", "dev", "test")]
# Keeps a job as <name>.json, runs it, and then keeps its status. The first job of all is evicted:
# it is gone before it ran.
KUBECTL = f"""#!{sys.executable}
import json, os, subprocess, sys
from pathlib import Path

folder = Path({{folder!r}})
namespace, action, *rest = sys.argv[1:]
assert namespace == "--namespace=default"
if action == "create":
    job = json.load(sys.stdin)
    first = not list(folder.glob("*.json"))
    path = folder / (job["metadata"]["name"] + ".json")
    path.write_text(json.dumps(job))
    if first:
        path.rename(path.with_suffix(".evicted.json"))
    elif os.fork() == 0:
        os.setsid()
        with open(os.devnull, "r+b") as null:
            for descriptor in (0, 1):
                os.dup2(null.fileno(), descriptor)
        (container,) = job["spec"]["template"]["spec"]["containers"]
        variables = {{{{each["name"]: each["value"] for each in container["env"]}}}}
        done = subprocess.run(container["command"], cwd=container["workingDir"], env=variables)
        condition = {{{{"type": "Failed" if done.returncode else "Complete", "status": "True"}}}}
        job["status"] = {{{{"conditions": [condition]}}}}
        changed = path.with_suffix(".new")
        changed.write_text(json.dumps(job))
        changed.rename(path)
elif action == "get":
    path = folder / (rest[1] + ".json")
    if path.exists():
        print(path.read_text())
"""


@pytest.fixture
def pods(monkeypatch):
    """The module that the profile's commands share."""
    monkeypatch.syspath_prepend(str(PROFILE))
    import pods

    yield pods
    del sys.modules["pods"]


@pytest.fixture
def kubectl(tmp_path, monkeypatch):
    """Install a `kubectl`; return the function that writes it."""
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def install(text: str) -> None:
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    return install


RESOURCES = {
    **{"mem_mb": 4000, "runtime": 90, "kubernetes_namespace": "nlp"},
    **{"kubernetes_image": "python:3.11", "kubernetes_volume": "claim:/mnt/shared"},
}


def container_of(job):
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return container


def test_pod_asks_for_what_the_job_needs_and_gets_no_more(pods):
    properties = {"threads": 3, "resources": RESOURCES}
    job = pods.manifest("n", Path("/mnt/s.sh"), Path("/mnt/work"), {"PATH": "/bin"}, properties)
    container = container_of(job)
    assert container["resources"]["limits"] == {"cpu": "3", "memory": "4000M"}
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert container["command"] == ["/bin/sh", "/mnt/s.sh"]
    assert container["workingDir"] == "/mnt/work"
    assert container["env"] == [{"name": "PATH", "value": "/bin"}]
    assert job["spec"]["activeDeadlineSeconds"] == 90 * 60
    (mount,), (volume,) = container["volumeMounts"], job["spec"]["template"]["spec"]["volumes"]
    assert mount == {"name": volume["name"], "mountPath": "/mnt/shared"}
    assert volume["persistentVolumeClaim"] == {"claimName": "claim"}


def test_gpus_are_limits(pods):
    properties = {"threads": 1, "resources": RESOURCES | {"gpu": 2}}
    job = pods.manifest("n", Path("/s"), Path("/w"), {}, properties)
    assert container_of(job)["resources"]["limits"]["nvidia.com/gpu"] == "2"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("echo '{}'", "running"),
        ('echo \'{"status": {"active": 1}}\'', "running"),
        (
            'echo \'{"status": {"conditions": [{"type": "Complete", "status": "True"}]}}\'',
            "success",
        ),
        ('echo \'{"status": {"conditions": [{"type": "Failed", "status": "True"}]}}\'', "failed"),
        ('echo \'{"status": {"conditions": [{"type": "Failed", "status": "False"}]}}\'', "running"),
        ("true", "failed"),  # it is gone
        ("exit 1", "running"),  # the cluster does not answer
    ],
)
def test_status_of_a_job(pods, kubectl, answer, expected):
    kubectl(f"#!/bin/sh\n{answer}\n")
    assert pods.status("nlp/paraloom-1") == expected


def test_refused_job_is_an_error(pods, kubectl, tmp_path):
    kubectl("#!/bin/sh\nexit 1\n")
    script = tmp_path / "job.sh"
    script.write_text(
        f"#!/bin/sh\n# properties = {json.dumps({'threads': 1, 'resources': RESOURCES})}\ntrue\n"
    )
    with pytest.raises(subprocess.CalledProcessError):
        pods.submit(script)


def test_cancel_deletes_each_job_in_its_namespace_whatever_happens_to_others(
    pods, kubectl, tmp_path
):
    kubectl(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ntest $1 != --namespace=a\n')
    with pytest.raises(subprocess.CalledProcessError):
        pods.cancel(["a/1", "b/2"])
    assert (tmp_path / "calls").read_text().splitlines() == [
        "--namespace=a delete job 1 --ignore-not-found --wait=false",
        "--namespace=b delete job 2 --ignore-not-found --wait=false",
    ]


@pytest.mark.parametrize("command", ["submit", "status", "cancel"])
def test_commands_of_the_profile_are_programs(command):
    assert (PROFILE / f"{command}.py").stat().st_mode & stat.S_IXUSR


@pytest.mark.rest
@pytest.mark.e2e
def test_jobs_run_in_pods_and_an_evicted_one_is_submitted_again_with_more(
    bitext, tmp_path, kubectl
):
    cluster = tmp_path / "cluster"
    cluster.mkdir()
    kubectl(KUBECTL.format(folder=str(cluster)))
    pipeline = Pipeline(tmp_path / "work", micro.config(bitext))
    given = ["--workflow-profile", str(PROFILE), "--seconds-between-status-checks", "1"]
    pipeline.run("corpus", *given, "--latency-wait", "10")

    jobs = [json.loads(path.read_text("utf-8")) for path in cluster.glob("*.json")]
    memory = sorted(container_of(job)["resources"]["limits"]["memory"] for job in jobs)
    # Four corpora, one of them twice; their manifests need no pod.
    assert memory == ["2000M"] * 4 + ["4000M"]
    assert sum("status" in job for job in jobs) == 4
    reference = Pipeline(tmp_path / "local", pipeline.config)
    reference.run("corpus")
    assert pipeline.hashes(*CORPORA) == reference.hashes(*CORPORA)
