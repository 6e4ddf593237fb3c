# Everything is installed below this folder: .venv/ and tests/e2e/node_modules/. Nothing else is
# needed before `make demo` or `make test` but Python >= 3.11, and Node for the tests with real Pi.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# `make test REQUIRE=all` fails if any group of tests was left out.
REQUIRE ?=

.PHONY: demo test lint format lock bench soak oracle observer-real clean help

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

demo: .venv/product ## play a recorded Pi session through a real daemon, then print the brief
	@$(BIN)/wayfinder demo $(DEMO)

test: .venv/dev node-modules _types/wayfinder ## install all that tests need, lint, and run every test
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest --require="$(REQUIRE)" $(TESTS)

lint: .venv/dev _types/wayfinder ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/dev ## all figures beside their peers, in one interleaved run
	$(BIN)/python -m benchmarks

soak: .venv/dev ## the long versions of the kill and simulation tests
	WAYFINDER_SOAK=1 $(BIN)/python -m pytest -m soak tests

oracle: .venv/dev ## nets against pm4py and SNAKES, in an environment of their own
	$(BIN)/python tests/oracle/run.py

observer-real: .venv/dev ## the observer with a real model on the CPU
	$(BIN)/python tests/observer/real_model.py

# Why --no-deps: a lock is complete. Left to resolve, pip looks at releases newer than the lock for
# a requirement with extras, and stops at their missing hashes.
lock: ## write the exact versions anew
	$(BIN)/uv pip compile -q pyproject.toml --group build --generate-hashes --no-emit-index-url \
	    --no-header --universal --python-version 3.11 -o locks/product.txt
	$(BIN)/uv pip compile -q pyproject.toml --group build --group dev --generate-hashes \
	    --no-emit-index-url --no-header --universal --python-version 3.11 -o locks/dev.txt

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	    "Wayfinder needs Python 3.11 or newer; this is " + sys.version.split()[0] + \
	    ". Try: make PYTHON=python3.12 demo")'
	@echo "setting up .venv (once, about half a minute)"
	@$(PYTHON) -m venv .venv

.venv/product: .venv/bin/python locks/product.txt pyproject.toml
	@$(PIP) install --no-deps --require-hashes -r locks/product.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev: .venv/product locks/dev.txt
	@echo "setting up the tests' environment (once)"
	@$(PIP) install --no-deps --require-hashes -r locks/dev.txt
	@touch $@

# Type checkers must see the root as the package `wayfinder`.
_types/wayfinder:
	@mkdir -p _types && ln -sfn .. _types/wayfinder

.PHONY: node-modules
node-modules:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory tests/e2e/node_modules/.ready; \
	else echo "no npm: tests with real Pi are left out"; fi

tests/e2e/node_modules/.ready: tests/e2e/package.json tests/e2e/package-lock.json
	@echo "installing Pi for the end-to-end tests (once)"
	@cd tests/e2e && npm ci --silent --no-audit --no-fund
	@touch $@

clean:
	rm -rf .venv _types build dist .pytest_cache .ruff_cache .hypothesis artefacts *.egg-info
