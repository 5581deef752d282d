# `make help` lists what can be made. Everything happens in .venv, which `make setup` creates.

VENV ?= .venv
BIN := $(VENV)/bin
QUIET ?= --quiet
PIP := $(BIN)/python -m pip --disable-pip-version-check $(QUIET)
# The compiler that Python itself was built with need not be here: any will do.
COMPILER := CXX=$${CXX:-$$(command -v c++ || command -v g++ || command -v clang++ || echo c++)}
INSTALL := $(COMPILER) $(PIP) install --constraint constraints.txt --no-build-isolation --editable
NATIVE := CMakeLists.txt $(wildcard native/*)
SPARK_OLDER := pyspark==3.5.9 py4j==0.10.9.7
PYTEST := $(BIN)/python -m pytest --numprocesses auto

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: ALWAYS help run demo setup check format system spark-3.5 test test-pure test-sanitized bench screenshots docs dist lock clean

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

run: setup ## start the service on this computer: pages for people, REST for programs (ARGS="…" is passed on)
	$(BIN)/doublet serve $(ARGS)

demo: setup ## check the sample work against the sample library and show the result in the terminal
	$(BIN)/doublet check examples/work.txt --against examples/library.jsonl

setup: $(VENV)/.installed ## create .venv with everything the commands need, native kernels built

# The exact versions of everything; pip itself, the build tools and the package need no isolated builds then. Spark comes
# as a source archive only: setuptools builds it, and what Python brings along is too old for that, or is not there.
$(VENV)/.tools: constraints.txt tools/venv.sh
	@sh tools/venv.sh $(VENV)
	@echo "Installing the build tools"
	@$(PIP) install --constraint constraints.txt pip scikit-build-core nanobind cmake setuptools
	@touch $@

# Python files are used from src/ as they are; only a change below builds the kernels again. Which modules there are is
# written down when the package is installed: files that come and go (a newer version was pulled) make it new.
$(VENV)/.modules: $(VENV)/.tools ALWAYS
	@find src/doublet -name '*.py' | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

ALWAYS:

$(VENV)/.installed: $(VENV)/.tools $(VENV)/.modules pyproject.toml $(NATIVE)
	@echo "Building the kernels and installing Doublet with its libraries"
	@$(INSTALL) '.[dev]'
	@$(BIN)/python -c 'from doublet import kernels; print("Ready, with", kernels.BACKEND, "kernels" if \
	  kernels.BACKEND == "native" else "kernels only, which are slow: `make clean setup QUIET=-v` shows why")'
	@touch $@

check: setup ## lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## put the code into the house format
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

system: ## install pandoc, LibreOffice, Chromium, nginx and MediaWiki, which the tests use (Debian, as root)
	@sh tools/system.sh

spark-3.5: $(VENV)/spark-3.5/.installed ## install Spark 3.5 beside the newer one, for the tests

$(VENV)/spark-3.5/.installed: $(VENV)/.tools Makefile
	@echo "Installing Spark 3.5 for the tests"
	@$(PIP) install --no-deps --upgrade --target $(VENV)/spark-3.5 $(SPARK_OLDER)
	@touch $@

test: check system spark-3.5 ## everything: lint, types, and all tests
	$(PYTEST) $(ARGS)

test-pure: setup ## the tests of the core again, on the plain Python kernels
	DOUBLET_KERNELS=python $(PYTEST) tests/unit tests/properties tests/contracts tests/golden $(ARGS)

test-sanitized: setup ## the reference tests on native kernels that report memory errors and undefined behaviour
	@sh tools/sanitized.sh $(BIN)/python $(ARGS)

bench: setup ## benchmarks, with rivals on the same input (ARGS="…" is passed on)
	@$(INSTALL) '.[dev,bench]'
	$(BIN)/python benchmarks/run.py $(ARGS)

screenshots: setup ## pictures of all pages of the service and of commands, into build/screenshots (ARGS="--docs" for those of the docs)
	$(BIN)/python tools/screenshots.py $(ARGS)

docs: setup ## write the generated parts of docs/ again
	@for tool in tools/make_*_pages.py tools/make_picture.py; do echo $$tool; $(BIN)/python $$tool || exit 1; done

dist: setup ## the source archive and a wheel that needs no compiler (manylinux), tried in a clean place, in dist/
	@sh tools/dist.sh $(BIN)/python dist

lock: setup ## resolve the newest versions that Python 3.11 can have into constraints.txt
	$(BIN)/python tools/lock.py

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
