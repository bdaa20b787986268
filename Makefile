# One command each; every target sets up what it needs in .venv. `make demo` and `make test` work on a bare clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test check format bench golden quality torture model clean

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
	$(if $(REPOS),for repo in $(REPOS)/*; do PYTHONPATH=. $(BIN)/python tests/bench/embedding.py $$repo; done)
	$(BIN)/python tests/bench/bench.py --lci $(BIN)/lci $(if $(REPOS),--repos $(REPOS)) $(if $(PEER),--peer $(PEER))

# DIR holds checkouts of PyCG, SWARM-CG, JCG, aiohttp and libuv (built with clang); what is not there is left out.
# HOPS holds checkouts of the repositories of tests/quality/data/multihop.json.
quality: $(BIN)/.installed-dev  ## DIR=folder-of-checkouts: our call graph; HOPS=folder-of-checkouts: multi-hop questions
	$(if $(DIR)$(HOPS),,$(error DIR=folder-of-checkouts or HOPS=folder-of-checkouts is missing))
	$(if $(DIR),PYTHONPATH=. $(BIN)/python -m tests.quality.callgraph all $(DIR) $(if $(VERBOSE),-v))
	$(if $(HOPS),PYTHONPATH=. $(BIN)/python -m tests.quality.multihop $(HOPS) $(if $(VERBOSE),-v))

# Kills, damage, full disks, readers and writers at once, hostile trees: docs/reliability.md. About two hours; one run alone:
# make torture TORTURE=kill. A seed is printed; SEED=7 repeats it.
TORTURE ?= stateful kill syscalls damage_run disk readers writers hostile
torture: $(BIN)/.installed-dev  ## the long forms of tests/torture
	for run in $(TORTURE); do \
	  echo "== $$run"; seed="$(if $(SEED),--seed $(SEED))"; [ $$run = hostile ] && seed=; \
	  $(BIN)/python -m tests.torture.$$run $$seed || exit 1; \
	done

# Every stage alone: make model STAGES=train. WORK holds downloads and results (25 GB); SENTENCE_MODEL as in docs/model.md.
STAGES ?= fetch prints mine assemble prepare train export
WORK ?= build/model
model: $(BIN)/.installed-dev  ## make the embedding model again, from its corpus
	$(BIN)/python -m pip install --quiet --editable '.[training]'
	for stage in $(STAGES); do \
	  $(BIN)/python -m lci_py.embed.training $$stage --work $(WORK) $(if $(SENTENCE_MODEL),--sentence-model $(SENTENCE_MODEL)) \
	    $(if $(BENCHMARK),--benchmark $(BENCHMARK)) $(if $(SEED),--seed $(SEED)) || exit 1; \
	done

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
