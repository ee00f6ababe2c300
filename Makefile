# `make` lists the targets. Choose a Python with `make run PYTHON=python3.12`,
# pass options on with ARGS: `make run ARGS="--port 8600"`, `make test ARGS="-k report"`.

PYTHONS = $(or $(PYTHON),.venv/bin/python python3.13 python3.12 python3.11 python3)
BIN = .venv/bin

# The first interpreter that suits sets up .venv; if none does, the first that starts says why.
define setup
@for python in $(PYTHONS); do \
	if "$$python" -I scripts/setup.py suits 2>/dev/null; then \
		exec "$$python" -I scripts/setup.py $(1); \
	fi; \
done; \
for python in $(PYTHONS); do \
	if "$$python" -c '' 2>/dev/null; then exec "$$python" -I scripts/setup.py $(1); fi; \
done; \
echo 'FuseScope needs Python 3.11 or newer and could start none of "$(PYTHONS)": install one (Debian, Ubuntu: apt install python3 python3-venv), or name it with PYTHON=/path/to/python3.12.' >&2; \
exit 2
endef

.DEFAULT_GOAL := help
.PHONY: help run test test-exhaustive test-engines test-openvino test-wheel wheel check lint format bench docs pictures validate-cache validate-gate validate-explanations calibrate-prediction fuzz samples cards catalogue constraints setup setup-dev clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

run: setup ## start the dashboard on 127.0.0.1
	@exec $(BIN)/fusescope serve $(ARGS)

# Bytecode that is not kept would be made anew by every process that a test starts.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test: setup-dev ## run the tests, but for repetitions (browser tests need Chromium)
	$(PYTEST) $(ARGS)

test-exhaustive: setup-dev ## run the repetitions that `make test` leaves out
	$(PYTEST) --exhaustive $(ARGS)

test-engines: setup-dev ## add every engine for real, and let it compile (minutes, network, 5 GB of disk)
	$(BIN)/python -m pytest -s --engines tests/engines $(ARGS)

test-openvino: setup-dev ## add OpenVINO and record with it (a minute, network, 300 MB of disk)
	$(BIN)/fusescope runtimes add openvino --yes
	$(PYTEST) --engines tests/engines/test_openvino_engine.py tests/engines/test_engines_together.py $(ARGS)

test-wheel: setup-dev ## build the wheel, install it with each extra and use it (minutes, network)
	$(PYTEST) --wheel tests/wheel $(ARGS)

wheel: setup-dev ## build the wheel below dist/, which is all that another machine needs (15 MB)
	rm -rf build/lib build/bdist.*
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

check: lint test ## everything that must pass before a change is done

lint: setup-dev ## format, lint and type checks
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/deno fmt --check --quiet
	$(BIN)/deno lint --quiet
	$(BIN)/deno check --no-remote --quiet analysis/timeline/web

format: setup-dev ## put the code into its standard form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/deno fmt --quiet

bench: setup-dev ## measure the speed of FuseScope itself (minutes, on a quiet machine)
	$(BIN)/python -m benchmarks $(ARGS)

docs: setup-dev ## build the documentation as a site below build/docs, offline
	$(BIN)/mkdocs build --strict --quiet

pictures: setup-dev ## take the pictures of the documentation again, or only ARGS=NAME (needs Chromium)
	$(BIN)/python scripts/pictures.py $(ARGS)

validate-cache: setup-dev ## hold the cache model against cachegrind (minutes; needs valgrind)
	$(BIN)/python -m benchmarks.cache_model

validate-gate: setup-dev ## record equal variants 40 times, and count how often a gate fails (4 minutes, quiet)
	$(BIN)/python -m benchmarks.gate $(ARGS)

validate-explanations: setup-dev ## plant changes into traces and count how many are named with their time (minutes)
	$(BIN)/python -m benchmarks.explanations $(ARGS)

calibrate-prediction: setup-dev ## hold predictions of fusion against the samples
	$(BIN)/python -m benchmarks.prediction

fuzz: setup-dev ## damage every sample file 20 000 times and read what is left (an hour)
	$(BIN)/python -m tests.security.fuzz --count 20000 $(ARGS)

samples: setup ## record sample_traces/ again, or only ARGS=NAME (an hour, on a quiet machine)
	$(BIN)/python scripts/record_samples.py $(ARGS)

cards: setup ## write anew what the page Start says of the samples
	$(BIN)/python scripts/sample_cards.py

catalogue: setup-dev ## bring the translations up to date with the texts in the code, list the gaps
	$(BIN)/python scripts/catalogue.py update
	$(BIN)/python scripts/catalogue.py compile
	$(BIN)/python scripts/catalogue.py missing

constraints: ## resolve the requirements anew and pin them in constraints.txt
	$(call setup,constraints)

setup: ## bring .venv up to date for running
	$(call setup,run)

setup-dev: ## bring .venv up to date for development
	$(call setup,dev)

clean: ## remove .venv and every cache
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
