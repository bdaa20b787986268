# One command each; every target sets up what it needs in .venv. `make demo` and `make test` work on a bare clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test check format bench golden quality clean

$(BIN)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(BIN)/.installed-dev: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(BIN)/.installed  ## index a real tree (the asyncio package of this Python) and search it
	@tree=$$($(BIN)/python -c 'import asyncio, os; print(os.path.dirname(asyncio.__file__))'); \
	LCI_INDEX_DIR=$(CURDIR)/build/demo; export LCI_INDEX_DIR; \
	echo "\$$ lci index $$tree"; $(BIN)/lci index "$$tree" && \
	echo && echo '$$ lci search "what happens when a task is cancelled" --mode multiview -n 5 --snippet 3' && \
	$(BIN)/lci search "what happens when a task is cancelled" --mode multiview -n 5 --snippet 3 --root "$$tree"

test: $(BIN)/.installed-dev  ## the whole suite
	$(BIN)/python -m pytest -n $(WORKERS)

check: $(BIN)/.installed-dev  ## format, lint, types, queries, tests
	$(BIN)/ruff format --check lci_py tests
	$(BIN)/ruff check lci_py tests
	$(BIN)/mypy
	$(BIN)/python -m pytest -n $(WORKERS)

format: $(BIN)/.installed-dev
	$(BIN)/ruff format lci_py tests
	$(BIN)/ruff check --fix lci_py tests

golden: $(BIN)/.installed-dev  ## rewrite the expected outputs; read the diff before committing
	LCI_UPDATE_GOLDEN=1 $(BIN)/python -m pytest -n $(WORKERS) tests -k golden

bench: $(BIN)/.installed-dev  ## timings on REPOS=folder (and against PEER=bin folder, if given)
	$(BIN)/python tests/bench/bench.py --lci $(BIN)/lci $(if $(REPOS),--repos $(REPOS)) $(if $(PEER),--peer $(PEER))

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
