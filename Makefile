# `make quickstart` and `make test` work on a fresh machine: both install into .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: install quickstart test lint clean

install: $(INSTALLED)

# torch goes first and pinned: resolved beside the rest, pip may take a newer build with gigabytes of CUDA packages.
$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

quickstart: install
	$(BIN)/recombine quickstart

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# One thread a process: two processes with two threads each wait for one another on two cores.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
