# make run: serve on 127.0.0.1:8000. make test: what every change must pass, in a few minutes. make test-all: every test.
# make nightly: every test, with random problems that nobody has seen. make bench: what it costs. make paper: the paper's
# experiments. make fuzz, make soak: what it bears. make mutants: what the tests of the core notice. make sbom: what it is
# made of. make screenshots: the pictures of the page. make docs: the tables of the reference pages. make clients: the
# types of the TypeScript client. All set up what they need. docs/testing.md says more about the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
READY_TO_RUN := $(VENV)/ready-to-run
READY_FOR_PAPER := $(VENV)/ready-for-paper
READY_TO_TEST := $(VENV)/ready-to-test
READY_TO_TEST_ALL := $(VENV)/ready-to-test-all
# Where it is set, every process that a test starts compiles the service anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-all nightly bench paper fuzz soak mutants sbom screenshots docs hashes clients check format clean

run: $(READY_TO_RUN)
	$(BIN)/flipset serve

# A module stays in one process, so that its fixtures run once. They come in order: the last ones are small. Three processes
# keep two processors busy, because many tests wait for a server; of all tests, which also wait for a browser, four.
SPREAD := -n 3 --dist loadscope --no-loadscope-reorder
SPREAD_ALL := $(SPREAD:3=4)
# Left to `make test-all`: what imports a package that `make test` does not install, what starts a server for every test, and
# the tests that are marked slow.
NOT_FAST := clients/test_frames.py conformance deploy exporters lab/benchmarks lab/paper live/operation live/records \
  web cohorts/drift/test_commands.py cohorts/report/test_looks.py cohorts/test_commands.py cohorts/test_runs.py \
  live/answers/test_identity.py live/answers/test_predictors.py live/clients/test_leaks.py \
  onboarding/test_four_kinds.py onboarding/test_init.py

test: check
	$(BIN)/pytest $(SPREAD) -m "not slow" $(NOT_FAST:%=--ignore=tests/%)

# TEST_SCALE multiplies the random problems, TEST_SEED draws others.
test-all: $(READY_TO_TEST_ALL)
	TEST_SCALE=$${TEST_SCALE:-2} $(BIN)/pytest $(SPREAD_ALL)

nightly: $(READY_TO_TEST_ALL)
	TEST_SCALE=$${TEST_SCALE:-20} TEST_SEED=$${TEST_SEED:-$$(date +%Y%m%d)} $(BIN)/pytest $(SPREAD_ALL)

# BENCH="--data DIR" takes real patients; BENCH="--only NAME" measures a part.
bench: $(READY_TO_TEST_ALL)
	$(BIN)/python -m lab.benchmarks $(BENCH)

# PAPER="--data DIR" adds the hepatitis and the thyroid data. Stopped with Ctrl-C, it goes on from there the next time.
paper: $(READY_FOR_PAPER)
	$(BIN)/python -m lab.paper $(PAPER)

# FUZZ="--inputs N --seed N" for another run.
fuzz: $(READY_TO_TEST)
	$(BIN)/python -m lab.fuzz $(FUZZ)

# SOAK="--seconds N --kill" for another length, and with workers that are killed on the way.
soak: $(READY_TO_TEST)
	$(BIN)/python -m lab.soak $(SOAK)

# Changes the core in small ways, and runs its tests against each. By default the first mutant of every function, and every
# tenth after it; MUTANTS="app.core.subsets.masks.*" takes others, MUTANTS="*" takes all. `mutmut show NAME` shows one.
MUTANTS ?= *__mutmut_*1

mutants: $(READY_TO_TEST) requirements/mutants.txt
	$(PIP) -r requirements/mutants.txt
	$(BIN)/mutmut run $(foreach pattern,$(MUTANTS),'$(pattern)')
	$(BIN)/mutmut results

# What the service is made of, in sbom.json (CycloneDX): an environment with nothing but the service, and a tool that lists it.
sbom:
	$(PYTHON) -m venv --clear $(VENV)-sbom/service
	$(VENV)-sbom/service/bin/pip install --quiet --disable-pip-version-check -r requirements/service.txt
	$(VENV)-sbom/service/bin/pip install --quiet --disable-pip-version-check --no-deps .
	$(VENV)-sbom/service/bin/pip uninstall --quiet --yes setuptools pip
	$(PYTHON) -m venv --clear $(VENV)-sbom/tool
	$(VENV)-sbom/tool/bin/pip install --quiet --disable-pip-version-check -r requirements/sbom.txt
	$(VENV)-sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application \
	  --output-reproducible --output-file sbom.json $(VENV)-sbom/service/bin/python

# Needs Chromium, like the tests of the page. Without the variable the same tests leave no picture behind.
screenshots: $(READY_TO_TEST_ALL)
	TEST_SCREENSHOTS=docs/screenshots $(BIN)/pytest tests/web/test_screenshots.py tests/web/test_front_ends.py

# The tables of docs/http.md and docs/settings.md, from the code. The tests say when they are out of date.
docs: $(READY_TO_RUN)
	$(BIN)/python docs/reference.py

# The digests of what the image installs, from the versions in requirements; run it after one has moved.
hashes: $(READY_TO_RUN)
	$(BIN)/python requirements/hashes.py

# What is made from something else: the types of the TypeScript client, and the copy of it that the page loads.
clients: $(READY_TO_RUN)
	$(BIN)/python clients/typescript/generate.py

check: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file clients/python/pyproject.toml
	$(BIN)/lint-imports
	$(BIN)/flipset validate
	$(BIN)/hadolint Dockerfile

format: $(READY_TO_TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-sbom $(VENV)-mlserver $(VENV)-kserve mutants

$(READY_TO_RUN): requirements/service.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements/service.txt
	$(PIP) --no-deps --editable .
	touch $@

$(READY_FOR_PAPER): $(READY_TO_RUN) requirements/trainers.txt requirements/paper.txt requirements/dice.txt
	$(PIP) -r requirements/trainers.txt -r requirements/paper.txt
	$(PIP) --no-deps -r requirements/dice.txt
	touch $@

$(READY_TO_TEST): $(READY_TO_RUN) requirements/cds.txt requirements/cohort.txt requirements/predictors.txt requirements/dev.txt clients/python/pyproject.toml
	$(PIP) -r requirements/cds.txt -r requirements/cohort.txt -r requirements/predictors.txt -r requirements/dev.txt
	$(PIP) --no-deps --editable clients/python
	touch $@

# Real predictors, and KServe's own SDK, in environments of their own: what they need is older than what Flipset needs.
$(VENV)-mlserver/ready $(VENV)-kserve/ready: $(VENV)-%/ready: requirements/servers/%.txt
	$(PYTHON) -m venv --clear $(VENV)-$*
	$(VENV)-$*/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(READY_TO_TEST_ALL): $(READY_TO_TEST) $(READY_FOR_PAPER) requirements/cluster.txt requirements/test-all.txt
	$(PIP) -r requirements/cluster.txt -r requirements/test-all.txt
	touch $@
