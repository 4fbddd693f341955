# make run: serve on 127.0.0.1:8000. make test: every check and test. make bench: what it costs. make paper: the paper's
# experiments. make fuzz, make soak: what it bears. make sbom: what it is made of. make screenshots: the pictures of the
# page. All set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
READY_TO_RUN := $(VENV)/ready-to-run
READY_FOR_PAPER := $(VENV)/ready-for-paper
READY_TO_TEST := $(VENV)/ready-to-test

.PHONY: run test bench paper fuzz soak sbom screenshots check format clean

run: $(READY_TO_RUN)
	$(BIN)/flipset serve

test: check
	$(BIN)/pytest -n 2

# BENCH="--data DIR" takes real patients; BENCH="--only NAME" measures a part.
bench: $(READY_TO_TEST)
	$(BIN)/python -m benchmarks $(BENCH)

# PAPER="--data DIR" adds the hepatitis and the thyroid data. Stopped with Ctrl-C, it goes on from there the next time.
paper: $(READY_FOR_PAPER)
	$(BIN)/python -m evaluation $(PAPER)

# FUZZ="--inputs N --seed N" for another run.
fuzz: $(READY_TO_TEST)
	$(BIN)/python -m fuzzing $(FUZZ)

# SOAK="--seconds N --kill" for another length, and with workers that are killed on the way.
soak: $(READY_TO_TEST)
	$(BIN)/python -m soak $(SOAK)

# What the service is made of, in sbom.json (CycloneDX): an environment with nothing but the service, and a tool that lists it.
sbom:
	$(PYTHON) -m venv --clear $(VENV)-sbom/service
	$(VENV)-sbom/service/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(VENV)-sbom/service/bin/pip install --quiet --disable-pip-version-check --no-deps .
	$(VENV)-sbom/service/bin/pip uninstall --quiet --yes setuptools pip
	$(PYTHON) -m venv --clear $(VENV)-sbom/tool
	$(VENV)-sbom/tool/bin/pip install --quiet --disable-pip-version-check -r requirements-sbom.txt
	$(VENV)-sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application \
	  --output-reproducible --output-file sbom.json $(VENV)-sbom/service/bin/python

# Needs Chromium, like the tests of the page. Without the variable the same tests leave no picture behind.
screenshots: $(READY_TO_TEST)
	TEST_SCREENSHOTS=docs/screenshots $(BIN)/pytest tests/web/test_screenshots.py

check: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/flipset validate
	$(BIN)/hadolint Dockerfile

format: $(READY_TO_TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-sbom

$(READY_TO_RUN): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable .
	touch $@

$(READY_FOR_PAPER): $(READY_TO_RUN) requirements-trainers.txt requirements-paper.txt requirements-dice.txt
	$(PIP) -r requirements-trainers.txt -r requirements-paper.txt
	$(PIP) --no-deps -r requirements-dice.txt
	touch $@

$(READY_TO_TEST): $(READY_FOR_PAPER) requirements-cohort.txt requirements-cluster.txt requirements-dev.txt
	$(PIP) -r requirements-cohort.txt -r requirements-cluster.txt -r requirements-dev.txt
	touch $@
