# `make quickstart` and `make test` work on a fresh machine: both install into .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.installed-docs

.PHONY: install quickstart test test-slow test-gpu lint tables docs browser fuzz killing clean

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

# The tables of figures in the README and docs/results.md, anew from the records in results/.
tables: install
	$(BIN)/python tests/tables.py

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

# The site, in site/. A link that leads nowhere is an error.
docs: $(DOCS_INSTALLED)
	$(BIN)/zensical build --clean --strict

# Pages are tested in Chromium. Where it is missing and cannot be had, those tests are skipped and say so.
browser:
	-@command -v chromium >/dev/null || ! command -v apt-get >/dev/null || \
		(timeout 120 apt-get update && timeout 180 apt-get install --yes --no-install-recommends chromium) >/dev/null 2>&1

# One thread a process: two processes with two threads each wait for one another on two cores. Three for two cores: some
# tests wait for what they have started.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n 3 --dist worksteal

# Style, types and layers, then all tests that take at most a few seconds each.
test: lint
	$(PYTEST) -m 'not slow and not gpu'

# The others: whole tables, clusters of two nodes, killed commands, full disks, pages in a browser, commands of the docs,
# GPU kernels by Triton's interpreter, and whether they compile, which an interpreter does not tell. One process runs all
# tests of a file, so that a cluster or a table is made once.
test-slow: docs browser
	TRITON_INTERPRET=1 $(PYTEST) --dist loadfile -m 'slow or gpu'
	$(PYTEST) tests/models/test_kernels_compile.py || [ $$? -eq 5 ]  # 5: no test, since there is no Triton

# GPU kernels beside their plain definitions, on the GPU of this machine.
test-gpu: install
	OMP_NUM_THREADS=1 $(BIN)/pytest -m gpu

# More than 100,000 broken and hostile files for all that reads files; some minutes.
fuzz: install
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzzing.py

# Commands that are killed at fifty moments each, then given again; some minutes.
killing: install
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/killing.py

clean:
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
