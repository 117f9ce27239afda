# Two commands for a newcomer: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# A pipe fails when pip does.
SHELL := bash
.SHELLFLAGS := -o pipefail -c

.PHONY: install demo test soak lint clean

install: $(VENV)/installed

# To run it, and to work on it as well.
$(VENV)/runs: EXTRAS := embedded
$(VENV)/installed: EXTRAS := embedded,dev
$(VENV)/runs $(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "memstream needs Python 3.11 to 3.13; set PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing memstream into $(VENV) (about a minute, once) ..."
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --editable '.[$(EXTRAS)]' \
		| awk '/^Collecting/ {printf "\r  %3d packages: %-40s", ++n, substr($$2, 1, 40); fflush()} \
			/^Installing collected/ {printf "\r  writing %d packages %-40s", n, "..."; fflush()} END {print ""}'
	@touch $@ $(VENV)/runs

demo: $(VENV)/runs
	@$(BIN)/memstream demo

# Processes that tests run in, whole files at a time, long ones first.
TESTS_AT_ONCE ?= 2
PYTEST := $(BIN)/python -m pytest --numprocesses $(TESTS_AT_ONCE) --dist loadfile --no-loadscope-reorder

test: install lint
	@$(PYTEST)

# The same proofs, longer and with other seeds.
soak: install
	@$(PYTEST) --soak

lint: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

clean:
	rm -rf $(VENV) .memstream build dist *.egg-info
