"""What a GPU does with this code: tests, speeds, a training, the judge and a whole run.

    benchmarks/gpu.sh pack                       # with a network: packages into .gpu/
    benchmarks/gpu.sh [--only PART ...]          # on the machine with the GPU
    benchmarks/gpu.sh --device cpu --tiny        # to try it

The machine has Python 3.12 with torch, NumPy (any, also 2), SciPy, pandas, pyarrow, SentencePiece,
transformers, sentence-transformers, scikit-learn, matplotlib, sacrebleu, hypothesis and pytest, but
no network: what else is needed travels in .gpu/ (with the working tree less than 64 MiB), in the
versions of requirements/. Without that folder, or with another Python, the one at hand is taken as
it is.

Each part is a process of its own and prints its lines as soon as it has them. One that can't be
imported, fails or takes too long says so, and the others go on; the exit status is 1 then.

The shares of `speed` are of what the machine allows, by a copy and a product that are timed here: a
step reads the weights of the decoder and, of each row, its own keys and values; a token takes two
operations for each of these weights. What the encoder does is not counted.
"""

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WHEELS = ROOT / ".gpu"
# With all that they need, but for what the machine has, and Snakemake's solver: it plans without.
CARRIED = ("snakemake", "lemminflect", "rapidfuzz", "sacremoses", "zstandard", "apted", "nltk")
CARRIED += ("pyspellchecker", "pytest-xdist")
LEFT_OUT = ("numpy", "pulp")
# It has no wheel.
SOURCE_ONLY = "connection-pool"
GLIBC = ("_2_28", "_2_27", "_2_24", "_2_17", "2014", "1")
MOST_BYTES = {"packages": 60_000_000, "packages and working tree": 64 * 2**20}
SECONDS = 360

Lines = Iterator[str]


def blocks(file: str) -> dict[str, str]:
    """Return the entries of a file of requirements/ by package."""
    text = (ROOT / "requirements" / file).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", f"\n{text}")[1:]
    return {entry.partition("==")[0]: entry for entry in entries}


def needed() -> dict[str, str]:
    """Return the entries of all that travels; an entry of the lock says what asks for it."""
    lock = blocks("lock.txt")
    users = {
        name: set(re.findall(r"^ +# +(?:via )?([a-z0-9-]+)$", entry, re.M))
        for name, entry in lock.items()
    }
    found = set(CARRIED)
    while more := {name for name, by in users.items() if by & found} - found:
        found |= more
    return {name: lock[name] for name in sorted(found.difference(LEFT_OUT))} | blocks("sockeye.txt")


def pack() -> None:
    """Fetch the packages.

    Raises:
        SystemExit: pip failed, or they are too large.
    """
    entries = needed()
    WHEELS.mkdir(exist_ok=True)
    for old in WHEELS.glob("*.whl"):
        old.unlink()
    pip = [sys.executable, "-m", "pip"]
    python = ["--python-version", "3.12", "--implementation", "cp", "--only-binary", ":all:"]
    python += [f"--platform=manylinux{version}_x86_64" for version in GLIBC]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirements.txt"
        for command, chosen in (
            (["wheel", "--wheel-dir"], [entries.pop(SOURCE_ONLY)]),
            (["download", *python, "--dest"], entries.values()),
        ):
            file.write_text("\n".join(chosen), encoding="utf-8")
            options = ["--quiet", "--no-deps", "--require-hashes", "-r", str(file)]
            if subprocess.run([*pip, *command, str(WHEELS), *options]).returncode:
                raise SystemExit("pip failed; with a network and room on the disk try again")
    tree = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True
    )
    packages = sum(path.stat().st_size for path in WHEELS.glob("*.whl"))
    files = [ROOT / name for name in tree.split("\0") if name]
    whole = packages + sum(path.stat().st_size for path in files if path.is_file())
    for (what, most), size in zip(MOST_BYTES.items(), (packages, whole), strict=True):
        print(f"{what}: {size / 1e6:.1f} of {most / 1e6:.1f} MB")
        if size > most:
            raise SystemExit(f"{what}: too large")


def prepared(folder: Path) -> str:
    """Return the Python of an environment with what travelled, and then what this Python has."""
    if not WHEELS.is_dir() or sys.version_info[:2] != (3, 12):
        return sys.executable
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    own = [path for path in sys.path if path.endswith("-packages")]
    lines = (f"import site; site.addsitedir({path!r})\n" for path in own)
    (packages / "machine.pth").write_text("".join(lines), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install"]
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--no-cache-dir"]
    subprocess.run(
        [*pip, *options, "--target", packages, *sorted(WHEELS.glob("*.whl"))], check=True
    )
    return str(folder / "bin" / "python")


# --- The parts: each takes the device, a folder and whether to be tiny, and yields its lines ------


def versions(device: str, work: Path, tiny: bool) -> Lines:
    """Say on what this runs."""
    import numpy
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else f"{os.cpu_count()} cores"
    python = sys.version.split()[0]
    yield f"{name}; Python {python}, torch {torch.__version__}, NumPy {numpy.__version__}"


def search(device: str, work: Path, tiny: bool) -> Lines:
    """Compare what the device writes with what the CPU writes, on a trained model."""
    from tests.oracles import SMALL
    from tests.unit.nmt.devices import comparisons

    far = []
    for precision in ("fp32", "bf16"):
        for found in comparisons(SMALL, device, precision):
            close = found.is_close(precision)
            far += [] if close else [f"{precision} {found.what}"]
            yield (
                f"{precision}, {found.what}: {found.same} of {found.outputs} are the CPU's, "
                f"their numbers within {found.gap:.1e}{'' if close else ', TOO FAR'}"
            )
    if far:
        raise AssertionError("too far from the CPU: " + ", ".join(far))


def tests(device: str, work: Path, tiny: bool) -> Lines:
    """Run the tests of the search core whose models may be anywhere."""
    files = [f"tests/unit/nmt/test_{name}.py" for name in ("scoring", "sampling", "beam", "stride")]
    words = ["-q", "-p", "no:cacheprovider", "--tb=short", *(files[:1] if tiny else files)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        env=os.environ | {"PARALOOM_TEST_DEVICE": device},
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = done.stdout.splitlines() or ["pytest said nothing"]
    yield lines[-1]
    if done.returncode:
        raise SystemExit("\n".join(lines[-12:]))


def seconds_of(run: Callable[[], Any], device: str, most: float) -> float:
    """Return the mean seconds of a call, over calls of `most` seconds; the first is not counted."""
    import torch

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    run()
    wait()
    calls, start = 0, time.perf_counter()
    while not calls or time.perf_counter() - start < most:
        run()
        wait()
        calls += 1
    return (time.perf_counter() - start) / calls


def peak_bytes(device: str) -> int:
    """Return the most memory so far, of the device or of this process."""
    import torch

    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def limits(device: str, size: int, seconds: float) -> tuple[float, float]:
    """Return the bytes a second that a copy moves, and the operations of a product in bf16."""
    import torch

    block = torch.zeros(size, size, 16, dtype=torch.bfloat16, device=device)
    copy = torch.empty_like(block)
    square = torch.randn(size, size, device=device).bfloat16()
    return (
        2 * block.nbytes / seconds_of(lambda: copy.copy_(block), device, seconds),
        2 * size**3 / seconds_of(lambda: square @ square, device, seconds),
    )


def ways(model: Any, rows: int, count: int) -> dict[str, tuple[Callable[[], Any], int, int]]:
    """Return what is timed: a call, the tokens that it puts out, and how many it computes."""
    import random

    from benchmarks.peers import in_paraloom
    from benchmarks.peers.tasks import OUTPUT_TOKENS, SOURCE_PIECES, Sentence

    chance = random.Random(1)

    def pieces(number: int) -> list[int]:
        return [chance.randrange(4, model.target_vocab.words) for _ in range(number)]

    tasks = [
        Sentence(pieces(SOURCE_PIECES), [[(piece,) for piece in pieces(2)]], (), [])
        for _ in range(count)
    ]
    pairs = [(each.source, pieces(SOURCE_PIECES)) for each in tasks for _ in range(30)]
    sample = in_paraloom.sampler(model, 30, rows)
    beam = in_paraloom.beam(model, 12, rows, constrained=False)
    tokens = count * OUTPUT_TOKENS
    return {
        "sampling, k 10, 30 samples": (lambda: sample(tasks), 30 * tokens, 30 * tokens),
        "beam 12": (lambda: beam(tasks), tokens, 12 * tokens),
        "scoring, 30 targets": (
            lambda: in_paraloom.scores(model, pairs, rows),
            30 * tokens,
            30 * tokens,
        ),
    }


def speed(device: str, work: Path, tiny: bool) -> Lines:
    """Time sampling, beams and scoring in bf16 beside what the machine allows."""
    import torch

    from benchmarks.peers.tasks import OUTPUT_TOKENS, Shape
    from tests.unit.nmt.folders import write_model
    from workflow_scripts.nmt.loaders import load_model

    seconds, size, rows, count = (0.1, 256, 60, 4) if tiny else (3.0, 8192, 2048, 256)
    bandwidth, products = limits(device, size, seconds / 10)
    moves, does = bandwidth / 1e12, products / 1e12
    yield f"a copy moves {moves:.3g} TB/s, a product does {does:.3g} TFLOP/s"
    shapes = [Shape(12, 768, 12, 3072, 20_000), Shape(6, 512, 8, 2048, 20_000)]
    for shape in [Shape(2, 64, 4, 128, 500)] if tiny else shapes:
        name = f"{shape.layers}x{shape.size}"
        bias = {"length_ratio": 1.0, "end_bias": -30.0, "symbol_bias": -30.0}
        folder = write_model(work / name, **shape._asdict(), longest=100, **bias)
        model = load_model(folder, device, "bf16")
        layer = 8 * shape.size**2 + 2 * shape.size * shape.hidden
        weights = shape.layers * layer + shape.size * shape.vocabulary
        # Keys and values of half an output, on average; a target is scored all at once.
        own = 2 * shape.layers * shape.size * OUTPUT_TOKENS // 2
        for what, (call, written, computed) in ways(model, rows, count).items():
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            taken = seconds_of(call, device, seconds)
            numbers = weights / rows + (0 if "scoring" in what else own)
            yield (
                f"{name}, {what}: {written / taken:,.0f} tokens/s, "
                f"{2 * numbers * computed / taken / bandwidth:.1%} of the bandwidth, "
                f"{2 * weights * computed / taken / products:.1%} of the products, "
                f"{peak_bytes(device) / 2**30:.2f} GiB"
            )


def train_block(tiny: bool) -> dict[str, Any]:
    """Return the model that is trained: 6x512, AMP, 200 updates."""
    from tests.unit.train.conftest import MICRO

    if tiny:
        return {**MICRO, "max_updates": 24}
    sizes = {
        "encoder_layers": 6,
        "decoder_layers": 6,
        "size": 512,
        "feed_forward": 2048,
        "heads": 8,
    }
    steps = {"batch_words": 4096, "max_updates": 200, "checkpoint_updates": 50, "warmup": 50}
    return {**MICRO, **sizes, **steps, "learning_rate": 0.0005, "amp": True}


def train(device: str, work: Path, tiny: bool) -> Lines:
    """Train with Sockeye, kill it behind its first checkpoint, and go on."""
    import json

    from tests.unit.train.conftest import write_bitext
    from workflow_scripts.stages.train import snapshots, work_folder
    from workflow_scripts.testbed.generate import pairs

    block = train_block(tiny)
    sides = list(zip(*(pair[:2] for pair in pairs(1, 0, 300 if tiny else 20_000)), strict=True))
    texts = dict(zip(("source", "reference"), map(list, sides), strict=True))
    bitext = write_bitext(work / "bitext", texts, 200 if tiny else 1000, device)
    output = work / "model"
    start = time.monotonic()
    running = bitext.start(output, block)
    folder = output / "work"
    while running.poll() is None and not (folder.is_dir() and snapshots.snapshots(folder)):
        time.sleep(0.05)
    running.kill()
    _, errors = running.communicate()
    if running.returncode != -signal.SIGKILL:
        raise AssertionError(f"it ended before it was killed: {errors}")
    killed = time.monotonic() - start
    kept = snapshots.snapshots(folder)[-1].name
    running = bitext.start(output, block)
    _, errors = running.communicate()
    if running.returncode:
        raise AssertionError(errors)
    log = (folder / work_folder.LOG).read_text(encoding="utf-8")
    metrics = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
    rates = re.findall(r"u/sec=([\d.]+)", log)
    checkpoints = len(set(re.findall(r"Checkpoint .(\d+)", log)))
    yield (
        f"{metrics['updates']} updates, {checkpoints} checkpoints, "
        f"killed behind {kept} after {killed:.0f} s, done after {time.monotonic() - start:.0f} s; "
        f"{rates[-1] if rates else '?'} updates/s, "
        f"validation perplexity {metrics['validation_perplexity']:.2f}"
    )


def judge(device: str, work: Path, tiny: bool) -> Lines:
    """Judge pairs with an encoder of MiniLM's shape, whose weights are random."""
    from benchmarks.bench_judge import NOUNS, make_pairs, probabilities
    from tests.unit.sentence_transformer import VOCABULARY, write_model
    from workflow_scripts.core.text.closed_classes import FUNCTION_WORDS
    from workflow_scripts.encoding.sentence_vectors import load_encoder
    from workflow_scripts.stages.judge.features import Models
    from workflow_scripts.stages.judge.grammar.grammar_model import Grammar
    from workflow_scripts.stages.judge.judge import Judge

    layers, inner = (2, 64) if tiny else (6, 1536)
    shape = {"hidden_size": 384, "num_attention_heads": 12, "intermediate_size": inner}
    words = dict.fromkeys([*VOCABULARY, *sorted(FUNCTION_WORDS), *NOUNS])
    folder = write_model(work, layers, list(words), max_position_embeddings=512, **shape)
    models = Models(load_encoder(folder, device), Grammar.load("english"))
    default = Judge.load("default")
    probabilities(make_pairs(1, 15, 12), default, models)
    pairs = make_pairs(2 if tiny else 667, 15, 12)
    start = time.perf_counter()
    found = probabilities(pairs, default, models)
    seconds = time.perf_counter() - start
    if not ((found >= 0) & (found <= 1)).all():
        raise AssertionError("these are no probabilities")
    yield f"{len(pairs):,} pairs in {seconds:.1f} s, {len(pairs) / seconds:,.0f} a second"


def run_config(data: Path, device: str) -> dict[str, Any]:
    """Return the micro run of the tests on a device, with a judge of its own beside."""
    from tests.e2e.micro import config, merged

    micro = config(data)
    keep = {"quantile": None, "probability_quantile": 0.5}
    judged = {"select": {"method": "judged", "judge": "own", "keep": keep}}
    features = ["overlap_1", "unknown_words", "backward_gain"]
    changes = {
        "run": {"systems": ["micro", "judged"]},
        "systems": {"judged": merged(micro["systems"]["micro"], judged)},
        "judges": {"own": {"labels": "labels.tsv", "features": features}},
        "models": {"micro": {"amp": True}},
        "compute": {"device": device},
    }
    return merged(micro, changes)


def run(device: str, work: Path, tiny: bool) -> Lines:
    """Make a whole run: two models, two systems, an embedding, release and report; a rewriter.

    The rewriter is not measured: that needs an encoder of 80 MB.
    """
    from tests.e2e.micro import merged, write_bitext
    from tests.e2e.pipeline import Pipeline

    start = time.monotonic()
    options = ["--scheduler", "greedy", *(["--dry-run"] if tiny else ["--quiet", "rules"])]
    config = run_config(write_bitext(work / "data"), device)
    pipeline = Pipeline(work / "run", merged(config, {"run": {"rewriters": []}}))
    pipeline.cores = os.cpu_count() or 2
    pipeline.run(*options)
    if not tiny:
        rows = [pipeline.manifest(f"select.{name}")["rows_out"] for name in ("micro", "judged")]
        units, seconds = len(pipeline.units()), time.monotonic() - start
        yield f"{units} units in {seconds:.0f} s, {' and '.join(map(str, rows))} paraphrases"
    pipeline.with_config(config).run(*options, "--until", "rewrite_train")
    yield f"{'planned' if tiny else 'with a rewriter'} in {time.monotonic() - start:.0f} s"


# The seconds that a part may take at most, of SECONDS for all.
PARTS: dict[str, tuple[Callable[[str, Path, bool], Lines], int]] = {
    "versions": (versions, 60),
    "search": (search, 60),
    "speed": (speed, 120),
    "train": (train, 90),
    "judge": (judge, 60),
    "run": (run, 150),
    "tests": (tests, 120),
}


def run_part(python: str, name: str, options: argparse.Namespace, work: Path, end: float) -> bool:
    """Run one part in a process of its own; return whether it did what it should."""
    words = ["--part", name, "--device", options.device, *(["--tiny"] if options.tiny else [])]
    start = time.monotonic()
    most = max(0.0, min(PARTS[name][1] * options.seconds / SECONDS, end - start))
    with (work / f"{name}.err").open("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [python, "-m", "benchmarks.gpu", *words],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(work)},
            stderr=errors,
            start_new_session=True,
        )
        try:
            status = str(process.wait(timeout=most) or "")
        except subprocess.TimeoutExpired:
            status = f"took more than {most:.0f} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if status:
            errors.seek(0)
            last = errors.read().splitlines()[-12:]
            print(f"{name}: FAILED ({status})", *last, sep="\n    ", flush=True)
        else:
            print(f"{name}: ok, {time.monotonic() - start:.0f} s", flush=True)
    return not status


def main(argv: list[str] | None = None) -> None:
    """Pack, or run the parts; the exit status is 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", nargs="?", choices=["run", "pack"], default="run")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--tiny", action="store_true", help="to try it: seconds, no figures")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="at most, for all parts")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.verb == "pack":
        pack()
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if options.part:
            for line in PARTS[options.part][0](options.device, work, options.tiny):
                print(f"{options.part}: {line}", flush=True)
            return
        end = time.monotonic() + options.seconds
        python = prepared(work / "python")
        good = [run_part(python, name, options, work, end) for name in options.only]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
