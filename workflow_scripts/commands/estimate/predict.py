"""From counts and speeds to the cost of every unit of a run.

What is not known before a run is taken from earlier runs, or is set too high: nothing is filtered
out, no training stops early, no candidate is pruned.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues import judges, pools, written_sources
from workflow_scripts.plan.catalogues.model_blocks import finished
from workflow_scripts.plan.catalogues.pair_features import ENCODER
from workflow_scripts.plan.catalogues.rewriters import (
    continued,
    finished_rewriter,
    model_of,
    noise,
    rewriter,
    rewriter_of,
    rewriter_role,
    sources_behind,
)
from workflow_scripts.plan.catalogues.written_sources import SOURCES, main_role
from workflow_scripts.plan.config import FILTER_ROLES, MAIN_ROLES
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.schema import filled
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import name_and_part
from workflow_scripts.stages.evaluate.stage import BOUNDS_SAMPLE
from workflow_scripts.stages.generate.stage import constraints_of
from workflow_scripts.stages.judge.stage import GRAMMAR
from workflow_scripts.stages.rewrite.unit_kinds import (
    CONTROL,
    MEASURES,
    PAIRS,
    PARSES,
    REPAIR,
    SUBWORD,
    TEMPLATES,
)

if TYPE_CHECKING:
    from workflow_scripts.commands.estimate.networks import Speed
    from workflow_scripts.commands.estimate.text_speed import TextSpeed

# The share of distinct texts among 150 samples of 5 constraint sets (captions 0.86, testbed 0.71).
DISTINCT = 0.85
# The time of a token that is scored with a shortlist, as a share of that without (students, 32,000
# pieces, fp32 and int8).
_SHORTLISTED = 0.6
# Of three beams, the share that are among the first one, two or three of their content words; of
# more it is set too high (reports/costs.md).
OF_EACH_CONTENT = {1: 0.28, 2: 0.42, 3: 0.51}
# On disk, per candidate and character of the reference (testbed run).
_CANDIDATE_BYTES, _SCORED_BYTES, _PARAPHRASE_BYTES = 0.35, 0.65, 1.0
# CPU-seconds per reference, of 1000 resamples (testbed run).
_EVALUATED = 0.002
# CPU-seconds per candidate that is compared with its reference at every bound (evaluate.bounds).
_COMPARED = 0.00002
# CPU-seconds per judged candidate: of its features, and of the models that some of them ask.
_JUDGED = 0.0005
_ASKED = {ENCODER: 0.005, judges.GRAMMAR_MODEL: 0.001}
# CPU-seconds and bytes of a grammar model that is trained on references (judge.grammar.train).
_GRAMMAR_TRAINED, _GRAMMAR_BYTES = 600.0, 4e6
# CPU-seconds and bytes of a judge that is fitted to some hundred labels.
_FITTED, _JUDGE_BYTES = 30.0, 50_000.0
# Beam that translates the test set (train.model_quality).
_TEST_BEAM = 5
# The time of a forward pass, as a share of forward, backward and update.
_FORWARD_SHARE = 1 / 3
# Bytes of a parameter: weights in fp32, kept in the model folder and beside its work.
_KEPT_BYTES = 8
# And of a finished model whose files are not here: weights in fp32; in int8 it is a quarter.
_FINISHED_BYTES = 4
# Files of a unit besides its records and their data: its manifest, with log and benchmark.
_MANIFEST_FILES = 3
_RECORD_FILES = 2
_JOB_FILES = 2
_MODEL_FILES = 30
# Inputs of a held-out pair besides the most frequent templates: the target's, its own, and none.
_UNCONTROLLED = 3


class Speeds(NamedTuple):
    """All that was measured: of text, of the model of each role, and of a job's start.

    `starts`: CPU-seconds before a job of "text" or "network" begins to work.
    """

    text: "TextSpeed"
    networks: "dict[str, Speed]"
    starts: dict[str, float]


def _searched(search: dict[str, Any], speed: "Speed") -> float:
    """Return the seconds that a search takes for each token of an output."""
    if search["method"] == "sample":
        return search["samples"] * speed.sampled
    return search["beam_size"] * speed.searched


class Cost(NamedTuple):
    """What one unit costs: jobs, CPU-seconds, seconds of a GPU, bytes and files that stay."""

    unit: Unit
    jobs: int
    cpu: float
    gpu: float
    size: float
    files: int


class Predictor:
    """The cost of every unit of one run."""

    def __init__(self, layout: Layout, lines: dict[str, int], speeds: Speeds, on_gpu: bool):
        """Predict for `layout` with `lines` in its corpora.

        Args:
            layout: of the run.
            lines: of each of its corpora.
            speeds: of this machine.
            on_gpu: whether networks run, and were measured, on a GPU.
        """
        self._layout = layout
        self._config = layout.config
        self._lines = lines
        self._speeds = speeds
        self._on_gpu = on_gpu
        self._pairs = sum(lines.values())
        self._pieces = {side: n + 1 for side, n in speeds.text.pieces.items()}  # with </s>

    def costs(self) -> list[Cost]:
        """Return the cost of every unit, in the order of the flow."""
        return [self._cost(unit) for unit in self._layout.units()]

    def unmeasured(self) -> list[str]:
        """Return the stages whose units count as one more pass over the text, whatever they do."""
        stages = dict.fromkeys(stage for stage, _ in self._layout.units())
        return [stage for stage in stages if not hasattr(self, f"_of_{stage}")]

    def references(self) -> int:
        """Return how many references are paraphrased."""
        limit = self._config["generate"]["limit"]
        counts = {name: self._lines[name] for name in selection.generate_corpora(self._config)}
        if isinstance(limit, dict):
            limits = {name: count for name, count in limit.items() if count is not None}
            return sum(min(count, limits.get(name, count)) for name, count in counts.items())
        total = sum(counts.values())
        return total if limit is None else min(limit, total)

    def _references_of(self, system: str) -> int:
        """Return how many of these a system paraphrases: a rewriter may take what it holds out."""
        block = rewriter_of(self._config, system)
        if block is None or block["references"] == "all":
            return self.references()
        return min(self.references(), rewriter(self._config, block["name"])["held_out"]["test"])

    def candidates(self, system: str) -> int:
        """Return how many candidates a system generates for each reference."""
        found = sum(times * pools.outputs(search) for search, times in self._searches(system))
        return self._sources(system) * found

    def _searches(self, system: str) -> list[tuple[dict[str, Any], int]]:
        """Return each search of a system, and how often it reads a source.

        That is once for each constraint set, or for each variant.
        """
        block, constraints = self._config["systems"][system], constraints_of(self._config, system)
        sets = len((constraints or {}).get("variants") or range((constraints or {}).get("sets", 1)))
        held = zip(pools.searches(block), pools.constrained(block), strict=True)
        return [
            (filled(search, search["method"]), sets if constrained else 1)
            for search, constrained in held
        ]

    def _sources(self, system: str) -> int:
        """Return how many sources a system reads for each reference, at most."""
        wanted = pools.sources(self._config["systems"][system])
        return int(wanted["human"]) + int(wanted["written"])

    def _cost(self, unit: Unit) -> Cost:
        stage, instance = unit
        text, network, size = getattr(self, f"_of_{stage}", self._of_other)(instance)
        layout = self._layout
        records = len(layout.records(*unit))
        jobs = layout.declaration(stage).jobs(instance)
        kind = "network" if network else "text"
        files = records * _RECORD_FILES + jobs * _JOB_FILES + _MANIFEST_FILES
        of_model = stage == "train" or (stage == "rewrite" and not name_and_part(str(instance))[1])
        files += _MODEL_FILES if of_model else 0
        start = jobs * self._speeds.starts[kind] + self._speeds.starts["text"]  # and its manifest
        cpu = text + start + (0.0 if self._on_gpu else network)
        return Cost(unit, jobs + 1, cpu, network if self._on_gpu else 0.0, size, files)

    # Of each stage: CPU-seconds of text, seconds of networks, bytes.

    def _of_corpus(self, instance: str) -> tuple[float, float, float]:
        name, _ = name_and_part(instance)
        known = self._speeds.text.imported
        rate = known.get(name, sum(known.values()) / len(known))
        lines = self._lines[name]
        return lines * rate, 0.0, lines * self._speeds.text.pair_bytes

    def _of_clean(self, _: Any) -> tuple[float, float, float]:
        text = self._speeds.text
        return self._pairs * text.cleaned, 0.0, self._pairs * text.pair_bytes

    _of_other = _of_clean

    def _training_pairs(self, instance: str) -> int:
        names = selection.main_training_corpora(self._config)
        if instance == "filter":
            trusted = selection.trusted_corpora(self._config)
            training = selection.training_corpora(self._config)
            names = [name for name in training if name in trusted]
        return sum(self._lines[name] for name in names)

    def _of_subword(self, instance: str) -> tuple[float, float, float]:
        text, config = self._speeds.text, self._config["subword"]
        pairs = self._training_pairs(instance)
        segments = pairs * max(1, config["samples"])
        seconds = 2 * min(pairs, config["sentences"]) * text.trained + segments * text.segmented
        return seconds, 0.0, segments * text.segment_bytes

    def _of_train(self, role: str) -> tuple[float, float, float]:
        train, speed = self._config["train"], self._speeds.networks[main_role(role)]
        block = filled(selection.role_model(self._config, role), "model")
        kept = speed.stored or _FINISHED_BYTES * speed.parameters
        if role not in selection.roles(self._config):  # taken over, and not measured
            return 0.0, 0.0, kept
        forward = role.removeprefix("filter_") == "forward"
        target = self._pieces["reference" if forward else "source"]
        test = self._lines.get(train["test"], 0) * _TEST_BEAM * target * speed.searched
        if finished(block):
            return 0.0, test, kept
        size = _KEPT_BYTES * speed.parameters
        updates = block["max_updates"]
        words = updates * block["batch_words"] * block["update_interval"]
        corpus = selection.dev_corpus(self._config, role)
        lines = self._lines[corpus] if corpus else 0
        if role in FILTER_ROLES:
            lines = min(lines, self._config["dual_filter"].get("dev_pairs", lines))
        dev = lines * target * (updates / block["checkpoint_updates"])
        text = self._training_pairs("filter" if role in FILTER_ROLES else "main")
        text *= max(1, self._config["subword"]["samples"]) * self._speeds.text.cleaned
        return text, (words + dev * _FORWARD_SHARE) * speed.update_word + test, size

    def _rewriter_pairs(self, name: str) -> float:
        """Return the rows of a rewriter, with both directions and copies, if none is left out."""
        block = rewriter(self._config, name)
        systems = sources_behind(self._config, name)
        own = self._config["run"]["systems"]
        blocks = [self._config["systems"][system] for system in systems if system in own]
        best = sum(entry["select"]["best"] for entry in blocks)
        damage = noise(self._config, name)
        copies = damage["copies"] if damage else 1
        return self.references() * best * len(block["write"]) * copies

    def _of_rewrite(self, instance: str) -> tuple[float, float, float]:
        name, part = name_and_part(instance)
        config, text = rewriter(self._config, name), self._speeds.text
        pairs = self._rewriter_pairs(name)
        # How long parsing takes is not known, as in the stage `syntax`.
        if part in (PAIRS, PARSES, TEMPLATES):
            return pairs * text.cleaned, 0.0, pairs * text.pair_bytes
        if part == SUBWORD:
            block = self._config["subword"]
            samples = self._layout.settings(("rewrite", instance))["samples"]
            segments = pairs * max(1, samples)
            own = config["subword"] == "own" and continued(self._config, name) is None
            learnt = 2 * min(pairs, block["sentences"]) if own else 0
            seconds = learnt * text.trained + segments * text.segmented
            return seconds, 0.0, segments * text.segment_bytes
        if not part and finished_rewriter(self._config, name):  # its files are those of `train`
            return 0.0, 0.0, 0.0
        speed, length = self._speeds.networks[rewriter_role(name)], self._pieces["reference"]
        searched = config["held_out"]["test"] * length * speed.searched
        if part == MEASURES:
            size = 4 * config["held_out"]["test"] * text.characters
            return 0.0, searched * (1 + config["beam"]), size
        if part == CONTROL:
            block = filled(config["templates"], "rewriter_templates")
            asked = block["sentences"] * (block["most"] + _UNCONTROLLED)
            size = 4 * asked * text.characters
            return 0.0, asked * length * speed.searched * config["beam"], size
        if part == REPAIR:
            damage = noise(self._config, name)
            read = config["held_out"]["test"] * (1 + len(damage["weights"] if damage else ()))
            return 0.0, read * length * speed.searched * config["beam"], 4 * read * text.characters
        update_word = speed.update_word
        if goes_on := continued(self._config, name):
            block = goes_on | {"update_interval": 1}
            update_word = speed.scored / _FORWARD_SHARE  # of a finished model this alone is known
        else:
            block = filled(model_of(self._config, name), "model")
        words = block["max_updates"] * block["batch_words"] * block["update_interval"]
        per_reference = pairs / max(1, self.references())
        lines = config["held_out"]["dev"] * per_reference
        dev = lines * length * (block["max_updates"] / block["checkpoint_updates"])
        network = (words + dev * _FORWARD_SHARE) * update_word
        network += searched * per_reference * _TEST_BEAM
        return pairs * text.cleaned, network, _KEPT_BYTES * speed.parameters

    def _of_dual_filter(self, instance: str) -> tuple[float, float, float]:
        exempt = {
            *selection.trusted_corpora(self._config),
            *selection.measured_corpora(self._config),
        }
        text = self._speeds.text
        if instance != "scores":
            return self._pairs * text.cleaned, 0.0, self._pairs * text.pair_bytes
        pairs = sum(count for name, count in self._lines.items() if name not in exempt)
        forward, backward = (self._speeds.networks[role] for role in FILTER_ROLES)
        per_pair = self._pieces["reference"] * forward.scored
        per_pair += self._pieces["source"] * backward.scored
        return 0.0, pairs * per_pair, pairs * 16

    def _of_generate(self, instance: str) -> tuple[float, float, float]:
        text, references = self._speeds.text, self.references()
        name, part = name_and_part(instance)
        if part == SOURCES:
            search = written_sources.settings(self._config, name)["search"]
            return self._of_sources(self._lines[name], search, scored=True)
        if search := pools.written_units(self._config).get(instance):
            return self._of_sources(references, search, scored=False)
        if instance not in self._config["run"]["systems"]:  # references, or their IDF
            return self._pairs * text.cleaned, 0.0, references * text.pair_bytes
        written = rewriter_of(self._config, instance)
        references = self._references_of(instance)
        role = rewriter_role(written["name"]) if written else "forward"
        speed = self._speeds.networks[role]
        rate = sum(times * _searched(search, speed) for search, times in self._searches(instance))
        read = references * self._sources(instance)
        seconds = read * self._pieces["reference"] * rate
        size = references * self.candidates(instance) * text.characters * _CANDIDATE_BYTES
        return 0.0, seconds, size

    def _of_sources(
        self, references: int, search: dict[str, Any], scored: bool
    ) -> tuple[float, float, float]:
        """Return what it costs to write the sources of references, and to score them."""
        search = filled(search, search["method"])
        sources = references * pools.outputs(search)
        forward, backward = (self._speeds.networks[role] for role in MAIN_ROLES)
        seconds = references * self._pieces["source"] * _searched(search, backward)
        seconds += sources * self._pieces["reference"] * forward.scored if scored else 0.0
        return 0.0, seconds, sources * self._speeds.text.pair_bytes

    def _scored_of_each(self, system: str) -> float:
        """Return how many candidates of a reference are scored, and go on."""
        most = self._config["systems"][system]["score"].get("of_each_content")
        return self.candidates(system) * OF_EACH_CONTENT.get(most, DISTINCT)

    def _scored(self, system: str) -> float:
        return self._references_of(system) * self._scored_of_each(system)

    def _of_score(self, system: str) -> tuple[float, float, float]:
        if system == "references":
            forward, backward = (self._speeds.networks[role] for role in ("forward", "backward"))
            per_reference = self._pieces["reference"] * forward.scored
            per_reference += self._pieces["source"] * backward.scored
            return 0.0, self.references() * per_reference, self.references() * 32.0
        tokens = self._scored(system) * self._pieces["source"]
        model = selection.role_model(self._config, "backward")
        if self._config["systems"][system]["score"].get("shortlist") and model.get("shortlist"):
            tokens *= _SHORTLISTED
        size = self._scored(system) * self._speeds.text.characters * _SCORED_BYTES
        return 0.0, tokens * self._speeds.networks["backward"].scored, size

    def _of_judge(self, instance: str) -> tuple[float, float, float]:
        if instance == GRAMMAR:
            return _GRAMMAR_TRAINED, 0.0, _GRAMMAR_BYTES
        if instance not in self._config["run"]["systems"]:  # a judge that is fitted to labels
            return _FITTED, 0.0, _JUDGE_BYTES
        judged = self._scored(instance)
        name = judges.judge_of(self._config, instance)
        needs = judges.needs(self._config["judges"][name])
        seconds = judged * (_JUDGED + sum(_ASKED.get(need, 0.0) for need in needs))
        network = 0.0
        if not needs.isdisjoint(judges.FORCED):
            network = judged * self._pieces["reference"] * self._speeds.networks["forward"].scored
        return seconds, network, judged * 4

    def _of_select(self, system: str) -> tuple[float, float, float]:
        best = self._config["systems"][system]["select"]["best"]
        size = (
            self._references_of(system)
            * (1 + best)
            * self._speeds.text.characters
            * _PARAPHRASE_BYTES
        )
        return self._scored(system) * self._speeds.text.selected, 0.0, size

    def _of_evaluate(self, system: str) -> tuple[float, float, float]:
        share = self._config["evaluate"]["bootstrap"] / 1000
        seconds = self.references() * _EVALUATED * share
        if selection.reference_scores(self._config):
            compared = min(BOUNDS_SAMPLE, self.references()) * self._scored_of_each(system)
            seconds += compared * _COMPARED
        return seconds, 0.0, 50_000.0

    def _of_release(self, _: Any) -> tuple[float, float, float]:
        sizes = [self._of_select(system)[2] for system in self._config["run"]["systems"]]
        rows = self.references() * len(sizes)
        return rows * self._speeds.text.cleaned, 0.0, 2 * sum(sizes)
