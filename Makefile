# make run: serve on 127.0.0.1:8000. make test: every check and test. make bench: what it costs. make paper: the paper's
# experiments. All set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
READY_TO_RUN := $(VENV)/ready-to-run
READY_FOR_PAPER := $(VENV)/ready-for-paper
READY_TO_TEST := $(VENV)/ready-to-test

.PHONY: run test bench paper check format clean

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

check: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/flipset validate

format: $(READY_TO_TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV)

$(READY_TO_RUN): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable .
	touch $@

$(READY_FOR_PAPER): $(READY_TO_RUN) requirements-trainers.txt requirements-paper.txt requirements-dice.txt
	$(PIP) -r requirements-trainers.txt -r requirements-paper.txt
	$(PIP) --no-deps -r requirements-dice.txt
	touch $@

$(READY_TO_TEST): $(READY_FOR_PAPER) requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	touch $@
