# make setup   everything into .venv           make demo    real sentences, from bitext to release;
#                                              STS=FOLDER: graded pairs that test its embedding
# make testbed a bitext whose meanings are known, trained on and paraphrased
# make check   lint and quick unit tests: after each change, within 90 seconds on two cores
# make test    set-up, lint, site, unit tests, one whole run and all that starts from it: some 17 minutes
# make test-all   the rest of the tests: some 40 minutes more
# make bench   measurements
# make deps    the system packages             make test-slurm   the tests on a real Slurm of one node
# make docs    the site, into site/            make lock    renews the pins in requirements/
# make test-hostile   100,000 lines of every hostile kind through all stages
# make fuzz    a hundred thousand files of every format, whole and damaged
# make test-faults   kills, power cuts, full disks (as root), too little memory, damaged files in all stages
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

CORES ?= 2
VENV := .venv
BIN := $(VENV)/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
# Images of containers set it: each process would compile all that it imports (core/environment.py).
unexport PYTHONDONTWRITEBYTECODE
SYSTEM_PACKAGES := cmake g++ libboost-system-dev libboost-thread-dev libboost-program-options-dev \
	libboost-test-dev python3-dev zlib1g-dev libbz2-dev liblzma-dev

SLURM_PACKAGES := slurmctld slurmd slurm-client munge

# A browser for the tests of pages, WordNet for those of the lexicon, and what a Turkish locale is
# made of.
TEST_PACKAGES := chromium wordnet-base locales

# Sockeye 2 on MXNet, which the backend mxnet trains with. Its Python is 3.8.
MXNET := $(VENV)/mxnet

.PHONY: setup setup-demo setup-training setup-work setup-all lock docs deps slurm-packages test-packages \
	demo references testbed test test-all test-slurm test-hostile test-faults fuzz wheel test-wheel lint \
	format bench clean

# What a command needs is installed when it is first given: paraloom/set_up.py knows what that is, and
# leaves alone what is there.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12)
SETUP = @$(or $(PYTHON),$(error Paraloom needs Python 3.11 or 3.12; install one of them (on Debian: \
	apt-get install python3.11 python3.11-venv) and run make again)) -m paraloom.set_up --into $(VENV)
setup-demo:
	$(SETUP) base demo students encoder
setup-training:
	$(SETUP) base demo stages sockeye
setup-work:
	$(SETUP) base demo stages sockeye languages tests docs
setup-all: setup-work $(BIN)/lmplz
	$(SETUP) students encoder || true
setup: setup-all

# A version changes where an *.in file or UPGRADE asks for it: make lock UPGRADE="-P numpy", or
# UPGRADE=--upgrade for all. The lock holds for every system and for both Pythons, and is the same
# whichever machine writes it: uv reads none of pip's settings.
LOCK := $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(UPGRADE)
lock: setup-work
	echo "torch; sys_platform == 'never'" >$(VENV)/no-torch
	cd requirements; lock() { ../$(LOCK) "$$@" >/dev/null; }; \
	lock --no-deps pip.in -o pip.txt; \
	lock --no-deps sockeye.in -o sockeye.txt; \
	lock --no-deps language.in -o language.txt; \
	lock --no-deps students.in -o students.txt; \
	lock --no-deps encoder.in -o encoder.txt; \
	lock --override ../$(VENV)/no-torch --no-emit-package torch \
	  base.in all.in torch-needs.in dev.in docs.in -o lock.txt

# KenLM's module and programs, for columns of a language model; all else works without them.
$(BIN)/lmplz: envs/language_model.post-deploy.sh | setup-work
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  $(MAKE) --no-print-directory deps || true; \
	fi
	$(SETUP) kenlm && touch -c $@ || true

deps:
	@if [ "$$(id -u)" = 0 ]; then \
	  apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(SYSTEM_PACKAGES); \
	else \
	  echo "Run as root: apt-get install --no-install-recommends $(SYSTEM_PACKAGES)"; \
	fi

# Only root can start Slurm's daemons; where it can't be had, its tests are skipped and say why.
slurm-packages:
	@if command -v munged >/dev/null && command -v slurmd >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $(SLURM_PACKAGES) >/dev/null; \
	else \
	  echo "No Slurm here, and not root on Debian: the tests that need it will be skipped."; \
	fi

$(MXNET)/.installed: envs/mxnet.yaml envs/mxnet.post-deploy.sh | setup-work
	@for python in python3.8 "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.8.*/bin/python3.8; do \
	  if "$$python" -c "" 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$${found:-}" ]; then \
	  echo "No Python 3.8 here: the tests that need Sockeye 2 on MXNet will be skipped."; exit 0; \
	fi; \
	"$$found" -m venv --clear $(MXNET) && \
	sed -n 's/^ *- \([a-z]*==.*\)/\1/p' envs/mxnet.yaml >$(MXNET)/requirements.txt && \
	export PATH="$(CURDIR)/$(MXNET)/bin:$$PATH" PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 && \
	pip install -r $(MXNET)/requirements.txt && bash envs/mxnet.post-deploy.sh && touch $@

test-packages: slurm-packages $(MXNET)/.installed
	@if command -v chromium >/dev/null && test -e /usr/share/wordnet/data.noun && \
	  test -e /usr/share/i18n/locales/tr_TR; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $(TEST_PACKAGES) >/dev/null; \
	else \
	  echo "No $(TEST_PACKAGES) here, and not root on Debian: the tests that need them will be skipped."; \
	fi

# Before minutes are spent on the set-up.
references:
	@[[ "$(REFERENCES)" =~ ^(all|[1-9][0-9]*|)$$ ]] || { \
	  echo "REFERENCES=$(REFERENCES): give a number of references, from 1, or all" >&2; exit 2; }

demo: references setup-demo
	@echo 'generate: {limit: $(REFERENCES:all=null)}' >$(VENV)/references.yaml
	@$(RUN) paraloom run --brief recipes/demo.yaml $(if $(REFERENCES),$(VENV)/references.yaml) -- \
	  --cores $(CORES) $(if $(STS),--config 'sts={data: [$(STS)]}')
	@$(RUN) paraloom runs show demo --examples 20
	@echo; echo "report: runs/demo/release/report.html"; echo "corpus: runs/demo/release"

testbed: setup-training
	@$(RUN) paraloom run --brief recipes/testbed.yaml -- --cores $(CORES)
	$(RUN) paraloom release summary --run runs/testbed

# One thread a worker: more would wait for each other.
PYTEST := $(RUN) OMP_NUM_THREADS=1 python -m pytest -n $(CORES)
# Long tests begin first (tests/conftest.py), and those of Slurm stay on one worker.
BY_GROUP := --dist loadgroup --no-loadscope-reorder

# What to run after each change. Whatever lint checks (style, types) is checked here too.
.PHONY: check
check: lint
	$(PYTEST) -q --dist worksteal -m "not slow and not rest" tests/unit

lint: setup-work
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) snakefmt --check Snakefile rules
	$(RUN) mypy workflow_scripts paraloom
	$(RUN) snakemake --lint

# A dead link, a lost anchor or a page in no group ends it (not with --quiet). The variable: no advertisement.
docs: setup-work
	$(RUN) NO_MKDOCS_2_WARNING=1 mkdocs build

# The linters run beside KenLM's compiler. Debian's packages come one after the other.
test:
	$(MAKE) --no-print-directory --jobs $(CORES) --output-sync setup lint docs
	$(MAKE) --no-print-directory test-packages
	$(PYTEST) $(BY_GROUP) --durations=30 -m "not rest" tests

test-all: setup test-packages
	$(PYTEST) $(BY_GROUP) --durations=30 -m rest tests

test-slurm: setup slurm-packages
	$(RUN) python -m pytest tests/slurm

wheel: setup
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

# What the wheel gives in an environment of its own: about ten minutes, and 3 GB in /tmp.
test-wheel: wheel
	$(RUN) python -m pytest tests/e2e/fresh_wheel.py

test-hostile: setup
	$(RUN) python -m tests.e2e.hostile

test-faults: setup
	$(RUN) python -m tests.e2e.faults

# Cases of each of some 25 properties; the tests of `make test` take 60.
FUZZ ?= 8000

fuzz: setup
	$(RUN) PARALOOM_FUZZ=$(FUZZ) python -m pytest -q -n $(CORES) tests/fuzz

format: setup-work
	$(RUN) ruff check --fix .
	$(RUN) ruff format .
	$(RUN) snakefmt Snakefile rules

bench: setup
	for bench in benchmarks/bench_*.py; do echo "== $$bench"; OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python $$bench; done

clean:
	rm -rf results runs .snakemake dist
