# Everything here works on a machine with only Python >= 3.11 (with venv and pip), make and a C library.
#
#   make demo    the demonstration at http://127.0.0.1:8000/ (PORT=... for another port)
#   make test    the tests for every day, a few minutes on two cores
#   make test-browser    those that look at pages in a real browser
#   make test-postgres   those on PostgreSQL, but for what several do at once, which everyday's have
#   make test-slow       servers, workers, the wheel, databases of every earlier version, the demonstration
#   make test-all        all of these, and how much of evaluation and workflows their tests reach (pyproject.toml says
#                        how much is too little); ANNOTATOR_THOROUGH=1 takes more examples, and leaves nothing out on
#                        PostgreSQL
#   make faults  servers and browsers killed, networks cut, in full length (make test-all has it short): 15 minutes
#   make fuzz    a million inputs changed at random into every parser: 5 minutes
#   make lint    style, types, spelling
#   make docs    docs/_build/html, without network; every warning is an error
#   make wheel   dist/relevance_annotator-*.whl
#   make translations   collect the sentences people read, compile their translations
#   make commands       describe the commands for help and completion, after a change of their options or texts
#   make lock    constraints.txt anew, with the newest versions that fit pyproject.toml; reports what is outdated
#
# PYTHON=python3.12 makes the virtual environment with that Python.

PYTHON ?= python3
PORT ?= 8000
VENV := .venv
LOCK := .venv-lock
BIN := $(VENV)/bin
# Also what builds the package is of the pinned versions.
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
EDITABLE := --build-constraint constraints.txt --editable .[server]

.PHONY: demo test test-browser test-postgres test-slow test-all faults fuzz lint docs wheel translations commands lock
.DELETE_ON_ERROR:

demo: $(VENV)/installed-to-run
	$(BIN)/annotator demo --port $(PORT)

# Skipped tests and those that were tried again are listed last, each by its name and with its reason. A test that hangs
# fails after ten minutes, longer than any takes on a busy machine. What is compiled is kept, for the many processes.
TESTS := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 2 --dist worksteal -rsR --no-fold-skipped --timeout 600

# tests/support/targets.py says which tests are of which target.
test: $(VENV)/installed-to-test
	$(TESTS) -m "not browser and not postgres and not slow"

test-browser: $(VENV)/installed-to-test
	$(TESTS) -m browser

test-postgres: $(VENV)/installed-to-test
	$(TESTS) -m postgres

test-slow: $(VENV)/installed-to-test
	$(TESTS) -m slow

# The tests of what decides something are also asked how much of it they reach, which slows these down by a half.
DECIDING := tests/evaluation tests/workflows

test-all: $(VENV)/installed-to-test
	$(TESTS) $(DECIDING) --cov
	$(TESTS) $(addprefix --ignore=,$(DECIDING))

faults: $(VENV)/installed-to-test
	ANNOTATOR_FAULTS=full $(BIN)/python -m pytest -q -n 2 --dist worksteal -rsR --timeout 3600 tests/faults tests/browser/faults

fuzz: $(VENV)/installed-to-test
	nice -n 19 $(BIN)/python benchmarks/fuzzing.py --inputs 1000000

lint: $(VENV)/installed-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell annotator benchmarks docs migrations static templates tests Makefile README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff pyproject.toml

# Everything is read again, so that no warning is passed over because its page has not changed.
docs: $(VENV)/installed-to-document
	$(BIN)/python -m sphinx -b html --fail-on-warning --keep-going --fresh-env -q docs docs/_build/html

wheel: $(VENV)/installed-to-test
	$(BIN)/python -m build --wheel --no-isolation

translations: $(VENV)/installed-to-run
	$(BIN)/python -m annotator.web.site.catalogue

commands: $(VENV)/installed-to-run
	$(BIN)/python -m annotator.cli.describe_commands

lock:
	$(PYTHON) -m venv --clear $(LOCK)
	$(LOCK)/bin/python -m pip install --quiet --upgrade pip
	$(LOCK)/bin/python -m pip install --quiet --editable .[server] --group test --group docs
	echo "# The exact version of everything that is installed; \`make lock\` writes this file." > $(LOCK)/constraints.txt
	$(LOCK)/bin/python -m pip freeze --all --exclude-editable --exclude setuptools >> $(LOCK)/constraints.txt
	mv $(LOCK)/constraints.txt constraints.txt
	@echo "Outdated, because a requirement does not allow the newest version:"
	-@$(LOCK)/bin/python -m pip list --outdated --exclude-editable --format=columns
	rm -r $(LOCK)

# Everything is installed again when what is to be installed has changed.
$(VENV)/installed-to-run: $(VENV)/has-pip pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) $(EDITABLE)
	touch $@

$(VENV)/installed-to-test: $(VENV)/has-pip pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) $(EDITABLE) --group test
	touch $@ $(VENV)/installed-to-run

$(VENV)/installed-to-document: $(VENV)/has-pip pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) $(EDITABLE) --group docs
	touch $@ $(VENV)/installed-to-run

# The pip that Python brings along may be too old for dependency groups (25.1) and build constraints (25.3).
$(VENV)/has-pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "annotator needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --upgrade pip
	touch $@
