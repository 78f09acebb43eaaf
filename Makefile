# Everything here works with nothing but Python 3.11 or 3.12 and make: the environment is made when it is missing.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
PACKAGES := schemas extraction memory operators flows cli
UPGRADE ?=

# Two recipes write to one environment, so they must not run side by side.
.NOTPARALLEL:
.PHONY: demo test lint types check schemas lock clean

demo: $(VENV)/.runtime $(VENV)/.project
	@$(BIN)/strandline demo

test: $(VENV)/.dev $(VENV)/.project
	@$(BIN)/python -m pytest

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev
	@$(BIN)/mypy

check: lint types test

schemas: $(VENV)/.runtime $(VENV)/.project
	@$(BIN)/python -m schemas.generate

# `make lock` keeps the pins that still fit; `make lock UPGRADE=--upgrade` takes the newest versions.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header $(UPGRADE)
lock: $(VENV)/.dev
	@echo 'setuptools>=77' | $(COMPILE) --extra embedded pyproject.toml - -o requirements.lock
	@printf 'setuptools>=77\nuv>=0.9\n' | \
		$(COMPILE) --extra dev --constraint requirements.lock pyproject.toml - -o requirements-dev.lock

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment counts only once its stamp is there. The stamp is written last and goes first, so an install that was
# interrupted, or whose lock has changed, is made anew from nothing.
define make_environment
	@fits='import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))'; \
	for python in $(or $(PYTHON),python3.12 python3.11 python3) ""; do \
		[ -n "$$python" ] && "$$python" -c "$$fits" 2>/dev/null && break; \
	done; \
	if [ -z "$$python" ]; then \
		echo 'Strandline needs Python 3.11 or 3.12 with its venv module, and found neither:' \
			'install one (on Debian also python3-venv), or name it: make PYTHON=/path/to/python3.12' >&2; \
		exit 1; \
	fi; \
	echo "Installing $(1) into $(VENV) with $$("$$python" -V); this takes about a minute." && \
	rm -f $(VENV)/.runtime $(VENV)/.dev $(VENV)/.project && \
	"$$python" -m venv --clear $(VENV) && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $(1)
endef

$(VENV)/.runtime: requirements.lock
	$(call make_environment,requirements.lock)
	@touch $@

$(VENV)/.dev: requirements-dev.lock requirements.lock
	$(call make_environment,requirements-dev.lock)
	@touch $(VENV)/.runtime $@

$(VENV)/.project: pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
