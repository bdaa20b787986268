# One command each; every target sets up what it needs in .venv. `make demo` and `make test` work on a bare clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# One more than there are cores: a test waits for processes of its own for a quarter of its time.
WORKERS ?= 3
# A module's fixtures are made once if one worker runs all of it; in the order of the folders, short modules are not the last.
SPREAD := --dist loadfile --no-loadscope-reorder
# Compiled modules are kept: tests start the program hundreds of times, and pytest rewrites every test module.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-cluster test quick check format lock bench golden quality tune torture model clean

$(BIN)/.installed: pyproject.toml
	@echo "installing lci and its grammars into $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# Exactly what was tested: every version and hash is in tests/requirements.txt, the builder's as well.
$(BIN)/.installed-dev: pyproject.toml tests/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement tests/requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(BIN)/.installed $@

demo: $(BIN)/.installed  ## index a real tree (the asyncio package of this Python) and search it
	@tree=$$($(BIN)/python -c 'import asyncio, os; print(os.path.dirname(asyncio.__file__))'); \
	LCI_INDEX_DIR=$(CURDIR)/build/demo; export LCI_INDEX_DIR; \
	echo "\$$ lci index $$tree"; $(BIN)/lci index "$$tree" && \
	echo && echo '$$ lci search "what happens when a task is cancelled" --mode multiview -n 5 --snippet 3' && \
	$(BIN)/lci search "what happens when a task is cancelled" --mode multiview -n 5 --snippet 3 --root "$$tree"

demo-cluster: $(BIN)/.installed-dev  ## three packages of this Python as a fleet, indexed by two processes
	@lib=$$($(BIN)/python -c 'import os; print(os.path.dirname(os.__file__))'); fleet=$(CURDIR)/build/demo-cluster; \
	rm -rf $$fleet; mkdir -p $$fleet; \
	for name in asyncio email http; do echo "$$name $$lib/$$name"; done > $$fleet/repos.txt; \
	set -x; $(BIN)/lci cluster index --repos $$fleet/repos.txt --store $$fleet/store --workers 2 && \
	$(BIN)/lci cluster search --store $$fleet/store -m multiview -n 3 "read a line from the connection" && \
	$(BIN)/lci cluster search --store $$fleet/store -m symbolic -n 3 --repo 'e*' 'name:parse*'

test: $(BIN)/.installed-dev  ## the whole suite
	$(BIN)/python -m pytest -n $(WORKERS) $(SPREAD)

quick: $(BIN)/.installed-dev  ## the suite without what is marked slow: under a minute
	$(BIN)/python -m pytest -n $(WORKERS) $(SPREAD) -m 'not slow'

check: $(BIN)/.installed-dev  ## format, lint, types, queries, tests
	$(BIN)/ruff format --check lci_py tests
	$(BIN)/ruff check lci_py tests
	$(BIN)/mypy
	$(BIN)/python -m pytest -n $(WORKERS) $(SPREAD)

format: $(BIN)/.installed-dev
	$(BIN)/ruff format lci_py tests
	$(BIN)/ruff check --fix lci_py tests

lock: $(BIN)/.installed-dev  ## newest versions into tests/requirements.txt, for every Python and platform; run the tests after
	$(BIN)/python -m pip install --quiet uv
	printf 'hatchling>=1.24\neditables>=0.5\n' | $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.10 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --extra dev \
	  --output-file tests/requirements.txt pyproject.toml -

golden: $(BIN)/.installed-dev  ## rewrite the expected outputs; read the diff before committing
	LCI_UPDATE_GOLDEN=1 $(BIN)/python -m pytest -n $(WORKERS) $(SPREAD) tests -k golden
	$(BIN)/python -m tests.support.examples

bench: $(BIN)/.installed-dev  ## timings on REPOS=folder (and against PEER=bin folder, if given)
	$(if $(REPOS),for repo in $(REPOS)/*; do PYTHONPATH=. $(BIN)/python tests/bench/embedding.py $$repo; done)
	$(BIN)/python tests/bench/bench.py --lci $(BIN)/lci $(if $(REPOS),--repos $(REPOS)) $(if $(PEER),--peer $(PEER))
	PYTHONPATH=. $(BIN)/python -m tests.bench.mcp_server --lci $(BIN)/lci

# DIR holds checkouts of PyCG, SWARM-CG, JCG, aiohttp and libuv (built with clang); what is not there is left out.
# HOPS holds checkouts of the repositories of tests/quality/data/multihop.json. COMMITS holds git repositories, for affected. BENCH is a folder of judged queries, REPOS
# the checkouts it is about: the diff per query between two rankings, LEFT=v1 and RIGHT=live (each a ranking, a single mode
# or a saved measurement: SAVE=file); MODE=dense measures that mode alone. tests/quality/*.py say what each measures.
LEFT ?= $(if $(MODE),,v1)
RIGHT ?= $(or $(MODE),live)
quality: $(BIN)/.installed-dev  ## DIR=folder: the call graph; HOPS=folder: multi-hop questions; BENCH=folder REPOS=folder: judged diff
	$(if $(or $(DIR),$(HOPS),$(COMMITS),$(BENCH)),,$(error DIR, HOPS, COMMITS, or BENCH and REPOS are missing))
	$(if $(BENCH),$(if $(REPOS),,$(error REPOS=folder-of-checkouts is missing)))
	$(if $(DIR),PYTHONPATH=. $(BIN)/python -m tests.quality.callgraph all $(DIR) $(if $(VERBOSE),-v))
	$(if $(HOPS),PYTHONPATH=. $(BIN)/python -m tests.quality.multihop $(HOPS) $(if $(VERBOSE),-v))
	$(if $(COMMITS),PYTHONPATH=. $(BIN)/python -m tests.quality.affected $(COMMITS) $(if $(VERBOSE),-v))
	$(if $(BENCH),PYTHONPATH=. $(BIN)/python -m tests.quality.known $(BENCH) $(REPOS) $(if $(MODE),--mode $(MODE)))
	$(if $(BENCH),PYTHONPATH=. $(BIN)/python -m tests.quality.economy $(BENCH) $(REPOS))
	$(if $(BENCH),PYTHONPATH=. $(BIN)/python -m tests.quality.judged $(BENCH) $(REPOS) \
	  $(if $(filter-out multiview,$(LEFT)),--left $(LEFT)) --right $(patsubst multiview,live,$(RIGHT)) $(if $(SAVE),--save $(SAVE)))

# START=flat begins with weights that say nothing; CHECK=1 only compares the live weights with leave-one-out.
tune: $(BIN)/.installed-dev  ## learn the weights of multiview: make tune BENCH=folder REPOS=folder
	$(if $(and $(BENCH),$(REPOS)),,$(error BENCH=folder-of-judged-queries and REPOS=folder-of-checkouts are missing))
	PYTHONPATH=. $(BIN)/python -m tests.quality.tune $(BENCH) $(REPOS) $(if $(START),--start $(START)) $(if $(CHECK),--check)

# Kills, damage, full disks, readers and writers at once, hostile trees: docs/reliability.md. About two hours; one run alone:
# make torture TORTURE=kill. A seed is printed; SEED=7 repeats it. `properties` are the property tests of the suite, with
# random examples instead of those of `make test`.
TORTURE ?= properties stateful kill syscalls damage_run disk readers writers soak hostile
torture: $(BIN)/.installed-dev  ## the long forms of tests/torture, and the property tests at random
	for run in $(TORTURE); do \
	  echo "== $$run"; seed="$(if $(SEED),--seed $(SEED))"; [ $$run = hostile ] && seed=; \
	  if [ $$run = properties ]; then \
	    $(BIN)/python -m pytest -n $(WORKERS) $(SPREAD) -m hypothesis --hypothesis-profile=random $(if $(SEED),--hypothesis-seed=$(SEED)) \
	      || exit 1; continue; \
	  fi; \
	  $(BIN)/python -m tests.torture.$$run $$seed || exit 1; \
	done

# Every stage alone: make model STAGES=train. WORK holds downloads and results (25 GB); SENTENCE_MODEL as in docs/model.md.
STAGES ?= fetch prints mine assemble prepare train export
WORK ?= build/model
model: $(BIN)/.installed-dev  ## make the embedding model again, from its corpus
	$(BIN)/python -m pip install --quiet --editable '.[training]'
	for stage in $(STAGES); do \
	  $(BIN)/python -m lci_py.training $$stage --work $(WORK) $(if $(SENTENCE_MODEL),--sentence-model $(SENTENCE_MODEL)) \
	    $(if $(BENCHMARK),--benchmark $(BENCHMARK)) $(if $(SEED),--seed $(SEED)) || exit 1; \
	done

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
