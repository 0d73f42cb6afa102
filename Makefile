# Needs make and a Python >= 3.11, nothing else: each target makes its own virtual environment
# when it is missing and installs into it. Stamp files make the second run quick.

SHELL := /bin/sh
VENV ?= .venv
VENV_OLDEST ?= .venv-oldest
VENV_NEWEST ?= .venv-newest
VENV_FREE_THREADED ?= .venv-free-threaded
ARGS ?=

# The first of these that is new enough; `make PYTHON=/path/to/python test` overrides it.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo "$$p"; break; fi; done)
# numba 0.60 and pandas 2.1, of the oldest set, have wheels for these two.
PYTHON_OLDEST ?= $(shell for p in python3.11 python3.12 python3 python; do \
	if "$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' >/dev/null 2>&1; \
	then echo "$$p"; break; fi; done)

PYTHON_FREE_THREADED ?= $(shell for p in python3.14t python3.13t; do \
	if command -v "$$p" >/dev/null 2>&1; then echo "$$p"; break; fi; done)

PIP := -m pip --disable-pip-version-check install --quiet --quiet
# What pip says of files and of unpacking them: a first installation takes a minute or two.
NOISY_PIP := -m pip --disable-pip-version-check install --progress-bar off
TELL := while read -r line; do case "$$line" in *.metadata*) ;; \
	Downloading*|"Using cached"*) echo "  $$line" ;; \
	"Installing collected"*) echo "  Installing them" ;; esac; done
SOURCES := $(shell find src -type f ! -name '*.pyc' ! -name '*.nb?')
# A process per core, and so one thread of BLAS in each. The tests of a class or module stay
# together, since they share what is slow to set up.
PYTEST := -m pytest --numprocesses auto --dist loadscope
PYTEST_ENV := OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1}

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-kernels test-random test-browser test-cortex test-torch test-package test-free-threaded lint format test-oldest test-newest build \
	check-version speed site docs clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	while IFS='|' read -r name what; do printf '%-27s %s\n' "$$name" "$$what"; done

demo: $(VENV)/.demo  ## train an SVM and small machines on digits, compare them, make demo.html
	@$(VENV)/bin/python -m kernelet demo $(ARGS)

test: $(VENV)/.test  ## run the quick tests (ARGS="-k name" for some of them)
	@$(PYTEST_ENV) $(VENV)/bin/python $(PYTEST) -m "not slow" $(ARGS)

test-all: $(VENV)/.test  ## run all tests
	@$(PYTEST_ENV) $(VENV)/bin/python $(PYTEST) $(ARGS)

# KERNELS="Haswell Prescott" for some of them; tests/processors.py lists all.
KERNELS ?=
test-kernels: $(VENV)/.test  ## run what depends on digits with the loops of other processors
	@$(VENV)/bin/python tests/processors.py $(KERNELS) -- $(ARGS)

# Of one test where ARGS="tests/kernels/test_kernels.py -k radial", say; with SEED=123, the examples of one
# seed again. The parts of a file may go to different processes: a few tests are most of the time.
SECONDS ?= 600
test-random: $(VENV)/.test  ## draw new examples for tests that use hypothesis, for SECONDS=600
	@$(PYTEST_ENV) PYTEST_ADDOPTS="--numprocesses auto --dist worksteal $$PYTEST_ADDOPTS" \
		$(VENV)/bin/python tests/random_examples.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(ARGS)

# Needs node, a Chromium with its driver, and LIBSVM's programs; on Debian:
# apt install nodejs chromium chromium-driver libsvm-tools
# It looks at the pages that `make site` has built, and builds them without the examples where there are none.
test-browser: $(VENV)/.browser $(VENV)/.docs  ## run the demo and the site in a browser, exported JavaScript and LIBSVM files
	@test -f docs/_build/html/index.html || $(MAKE) site ARGS="-D plot_gallery=0"
	@$(VENV)/bin/python -m pytest tests/browser $(ARGS)

# Needs a compiler for ARM and QEMU; on Debian:
# apt install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
test-cortex: $(VENV)/.test  ## run exported C on a Cortex-M4F and M0, in an emulator
	@$(PYTEST_ENV) $(VENV)/bin/python -m pytest tests/cortex $(ARGS)

# Needs PyPI: builds happen in environments of their own.
test-package: $(VENV)/.package  ## build what is published, check and install it
	@$(PYTEST_ENV) $(VENV)/bin/python -m pytest tests/distribution $(ARGS)

# Needs a free-threaded Python, and wheels for it; tests/free_threaded.py says which are missing.
test-free-threaded: $(VENV_FREE_THREADED)/bin/python  ## run the quick tests on a Python without the GIL
	@$(VENV_FREE_THREADED)/bin/python tests/free_threaded.py
	@$(VENV_FREE_THREADED)/bin/python $(PIP) --only-binary :all: --no-binary kernelet --editable '.[test]'
	@$(PYTEST_ENV) $(VENV_FREE_THREADED)/bin/python -X gil=0 $(PYTEST) -m "not slow" $(ARGS)

# Installs PyTorch, of several hundred megabytes; not in CI.
test-torch: $(VENV)/.torch  ## run machines and estimators on tensors of PyTorch
	@$(PYTEST_ENV) $(VENV)/bin/python -m pytest tests/pytorch $(ARGS)

lint: $(VENV)/.lint  ## check format, style, types and the layers
	@$(VENV)/bin/python -m ruff format --check .
	@$(VENV)/bin/python -m ruff check .
	@$(VENV)/bin/python -m mypy
	@$(VENV)/bin/lint-imports

format: $(VENV)/.lint  ## put the code in the format that lint asks for
	@$(VENV)/bin/python -m ruff check --fix-only .
	@$(VENV)/bin/python -m ruff format .

# Doctests print as the newest NumPy does, so this target runs the tests alone; and it installs
# a wheel, so that a file missing there is found. What compiles C, reads our pages or runs our
# benchmarks says nothing of old libraries that the rest does not; scikit-learn dispatches arrays of
# others with a newer SciPy only. The checks of scikit-learn and the
# cluster do, though they are slow.
ANY_VERSION := --ignore-glob='tests/export/test_export_c*' \
	--ignore=tests/learners/test_array_api.py \
	$(addprefix --ignore=tests/docs/test_, $(addsuffix .py,architecture howto_c site documents))
# LOOPS=Prescott: with the loops of that processor, as `make test-kernels` runs them.
LOOPS ?=
OLDEST_PYTHON = $(PYTEST_ENV) $(if $(LOOPS),$(VENV_OLDEST)/bin/python tests/processors.py --run $(LOOPS)) $(VENV_OLDEST)/bin/python
test-oldest: $(VENV_OLDEST)/.test  ## run the quick tests on the oldest versions that are allowed
	@$(OLDEST_PYTHON) $(PYTEST) -m "not slow" tests $(ANY_VERSION) $(ARGS)
	@$(OLDEST_PYTHON) $(PYTEST) tests/learners/test_estimators.py \
		tests/learners/test_rows_out_of_core.py -m slow $(ARGS)

test-newest: $(VENV_NEWEST)/bin/python  ## run the tests on the newest versions there are
	@$(VENV_NEWEST)/bin/python $(PIP) --upgrade --upgrade-strategy eager --editable '.[test]'
	@$(PYTEST_ENV) $(VENV_NEWEST)/bin/python $(PYTEST) $(ARGS)

build: $(VENV)/.package  ## build wheel and sdist into dist, and check them
	@rm -rf dist
	@$(VENV)/bin/python -m build --outdir dist .
	@$(VENV)/bin/python -m twine check --strict dist/*

check-version:  ## see that TAG=v1.2.3 is the version of the sources, the changelog and the recipe
	@$(PYTHON) packaging/check_version.py "$(TAG)"

speed: $(VENV)/.bench  ## measure speed as ratios, with the limit beside each
	@$(VENV)/bin/python -m benchmarks.speed $(ARGS)

# ARGS="-D plot_gallery=0" leaves the examples out, which are most of the time.
site: $(VENV)/.docs  ## build the site into docs/_build/html and check its links
	@$(VENV)/bin/python -m sphinx -b html -W --keep-going -q docs docs/_build/html $(ARGS)
	@$(VENV)/bin/python docs/check_site.py docs/_build/html

docs: site  ## build the site, run the code of its pages and the doctests
	@$(PYTEST_ENV) $(VENV)/bin/python $(PYTEST) src tests/docs/test_site.py

clean:  ## remove environments, caches and builds
	rm -rf $(VENV) $(VENV_OLDEST) $(VENV_NEWEST) $(VENV_FREE_THREADED) build dist docs/_build .mypy_cache .ruff_cache .pytest_cache \
		.hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# $(1): the interpreter, $(2): the environment, $(3): what to say when there is no interpreter.
# Debian ships venv without the pip it needs inside; the system's pip, where there is one, then fills it.
define make_venv
	@test -n "$(1)" || { echo "$(3)" >&2; exit 1; }
	@echo "making $(2) with $$($(1) --version)"
	@$(1) -m venv --clear $(2) >/dev/null 2>&1 || { $(1) -m venv --clear --without-pip $(2) && \
		$(1) -m pip --python $(2)/bin/python install --quiet --quiet pip; } || { rm -rf $(2); \
		echo "$(1) can make no virtual environment with pip in it; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
endef

$(VENV)/bin/python $(VENV_NEWEST)/bin/python:
	$(call make_venv,$(PYTHON),$(@D:/bin=),kernelet needs Python 3.11 or newer and none was found; name one with: make PYTHON=/path/to/python)

$(VENV_OLDEST)/bin/python:
	$(call make_venv,$(PYTHON_OLDEST),$(@D:/bin=),the oldest set needs Python 3.11 or 3.12 and none was found; name one with: make PYTHON_OLDEST=/path/to/python)

$(VENV_FREE_THREADED)/bin/python:
	$(call make_venv,$(PYTHON_FREE_THREADED),$(@D:/bin=),no free-threaded Python was found; name one with: make PYTHON_FREE_THREADED=/path/to/python3.14t)

# $(VENV)/.NAME: what the target NAME needs is installed
$(VENV)/.demo: extras = cli
$(VENV)/.test: extras = test
$(VENV)/.browser: extras = browser
$(VENV)/.package: extras = package
$(VENV)/.torch: extras = torch
$(VENV)/.lint: extras = lint
$(VENV)/.bench: extras = bench
$(VENV)/.docs: extras = docs
$(VENV)/.demo $(VENV)/.test $(VENV)/.browser $(VENV)/.package $(VENV)/.torch $(VENV)/.lint $(VENV)/.bench $(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	@echo "installing kernelet[$(extras)] and what it needs into $(VENV), which takes a minute or two the first time"
	@rm -f $@.failed
	@{ $(VENV)/bin/python $(NOISY_PIP) --editable '.[$(extras)]' || touch $@.failed; } | { $(TELL); }
	@! rm $@.failed 2>/dev/null
	@touch $@

$(VENV_OLDEST)/.test: pyproject.toml requirements/oldest.txt $(SOURCES) | $(VENV_OLDEST)/bin/python
	@echo "installing kernelet[test] with requirements/oldest.txt into $(VENV_OLDEST)"
	@$(VENV_OLDEST)/bin/python $(PIP) --constraint requirements/oldest.txt '.[test]'
	@$(VENV_OLDEST)/bin/python $(PIP) --no-deps --force-reinstall .
	@touch $@
