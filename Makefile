# One command each. `make serve` and `make test` need Python 3.11 or newer, make, and nothing else.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
MODEL ?= examples/worldlet
HOST ?= 127.0.0.1
PORT ?= 8080
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Tests start thousands of processes: where Python may not write its caches, each would compile all.
COMPILE := $(BIN)/python -m compileall -q src tests examples
# torch is pinned for the Python that has a CPU build; on the others the torch tests say why they are skipped.
EXTRAS = $(shell $(BIN)/python -c 'import sys; print("test,torch" if sys.version_info[:2] == (3, 11) else "test")')

.PHONY: serve test test-matrix test-ray test-fast lint format docs bench proto clean

serve: $(VENV)/.serve
	$(BIN)/reactor serve $(MODEL) --host $(HOST) --port $(PORT)

test: $(VENV)/.test
	sh tests/install_system_packages.sh
	$(COMPILE)
	$(BIN)/python -m pytest $(ARGS)

# Every way a rank can go wrong, in every phase; `make test` runs a set that covers all pairs.
test-matrix: $(VENV)/.test
	$(COMPILE)
	$(BIN)/python -m tests.process.distributed.fault_table
	MATRIX=all $(BIN)/python -m pytest tests/process/distributed/test_fault_matrix.py $(ARGS)

# Jobs on a Ray cluster of two nodes on this machine. Ray is large, so it has a folder of its own.
test-ray:
	$(MAKE) VENV=.venv-ray .venv-ray/.ray
	.venv-ray/bin/python -m pytest -m ray tests/process/launcher/test_ray.py $(ARGS)

$(VENV)/.ray: $(VENV)/.test
	$(PIP) -e ".[$(EXTRAS),ray]" -c tests/constraints.txt
	@touch $@

# Units and contracts, hosts of processes included, without browser, public client and torch.
test-fast: $(VENV)/.test
	$(COMPILE)
	$(BIN)/python -m pytest tests/unit tests/contract examples \
	  -m "not browser and not sdk and not torch" -o cache_dir=$(VENV)/pytest-cache $(ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python tests/surface_types.py
	$(BIN)/python tests/template_types.py
	$(BIN)/python -m pytest -q tests/unit/test_layout.py

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The tables of the reference pages, from the code.
docs: $(VENV)/.serve
	$(BIN)/python docs/write_tables.py

# Every benchmark beside the peer, half an hour; ARGS="--quick" tries them all. Both sides run on
# the Python that the peer needs, in .venv-peer and .venv-ours. Writes benchmarks/RESULTS.md, its
# plots, and the table in the README.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py $(ARGS)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || \
	  { echo "Python 3.11 or newer is needed: install it, or make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "could not make $(VENV): on Debian, install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/.serve: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e .
	@touch $@

$(VENV)/.test: pyproject.toml tests/constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[$(EXTRAS)]" -c tests/constraints.txt
	@touch $@ $(VENV)/.serve

$(VENV)/.bench: $(VENV)/.test
	$(PIP) -e ".[bench]" -c tests/constraints.txt
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(PIP) -e ".[dev]" -c tests/constraints.txt
	@touch $@

# The compiler is an old one on purpose (it has wheels up to Python 3.11): what it writes loads with
# protobuf 4.21 and with every later one, and warns with none.
proto:
	$(PYTHON) -m venv build/protoc
	build/protoc/bin/python -m pip install --quiet "grpcio-tools==1.50.0" "setuptools<70"
	build/protoc/bin/python -m grpc_tools.protoc -I src --python_out=src src/reactor_runtime/wire/reactor.proto

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
