# Everything a developer needs, on a machine with only python3 and make. `make help` lists the targets.
PYTHON ?= python3
TORCH  ?= torch==2.13.0
# Test processes: one more than two cores, because many tests wait for child processes.
JOBS   ?= 3

# Tests start hundreds of processes. Without stored bytecode, each would compile the package's source again.
unexport PYTHONDONTWRITEBYTECODE

BIN    := .venv/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo types style plain-tests docs-beside test test-all test-generic test-heavy test-slow check docs linkcheck bench bench-full bench-ready paper harden
.PHONY: coverage format clean dist system-packages test-dist test-lowest
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

# Each stamp stands for one thing installed; all are made again when pyproject.toml changes.
# pip 25.1 is the first that reads dependency groups.
.venv/made:
	$(PYTHON) -m venv .venv
	$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

.venv/core: .venv/made pyproject.toml
	$(PIP) install --editable '.[cli]'
	@touch $@

.venv/test: .venv/made pyproject.toml
	$(PIP) install --editable '.[all]' --group test --group docs
	@touch .venv/core $@

# The browser is a system package: see test-heavy.
.venv/heavy: .venv/test
	$(PIP) install '$(TORCH)' --group heavy
	@touch $@

demo: .venv/core ## fit two data sets and show the results
	$(BIN)/treerep demo

check: .venv/test ## style, types, imports between packages, spelling and language; prints the size of the code
	@$(MAKE) --no-print-directory -j 2 types style
	@$(BIN)/python -m release.measure

types: .venv/test
	$(BIN)/mypy

style: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell
	$(BIN)/python -m release.check_language

docs: .venv/test ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build $(SPHINX) -W --keep-going -q -j 2 -b html docs docs/_build/html
	$(BIN)/python docs/check_built.py docs/_build/html

# Links between pages are checked by `docs`, where a target that is missing is a warning; these are those to elsewhere.
linkcheck: .venv/test ## follow the links of the documentation to other sites
	$(BIN)/sphinx-build -q -b linkcheck docs docs/_build/linkcheck

PLAIN  := not torch and not browser and not slow
# Types are checked and the documentation is built beside the tests, because each keeps only one core busy. All share
# the kernels that one of them compiles.
test: style ## style, types, tests and documentation, without the tests that need torch or a browser
	@echo "make test leaves out the tests that need torch or a browser, and the second run on a generic CPU:"
	@echo "make test-all runs all of these"
	@$(MAKE) --no-print-directory -j 3 types plain-tests docs-beside

plain-tests: .venv/test
	$(BIN)/pytest -n $(JOBS) -m "$(PLAIN) and not generic"

# The tests run the cells of the notebooks, so that this build does not run them again. `make docs` does.
# What it prints would be lost among the progress of the tests. With -n, make runs the lines that call make, so that
# the folder must be made in the same line.
docs-beside: .venv/test
	@mkdir -p docs/_build; $(MAKE) --no-print-directory docs SPHINX="-D nb_execution_mode=off" >docs/_build/log 2>&1; done=$$?; cat docs/_build/log; exit $$done

test-all: test test-generic test-heavy ## all tests except the slow ones; must pass before a merge

# Where numbers are printed, stored or documented. Other folders compare what one machine computes in two ways.
GENERIC := src tests/cli tests/docs tests/embedding tests/fitting/test_stored_trees.py tests/fitting/test_machines.py tests/paper tests/test_front_door.py tests/*/test_pages.py
test-generic: .venv/test ## some of the tests, with the code of NumPy, numba and libm for the oldest CPUs
	$(BIN)/python -m tests.generic_cpu $(BIN)/pytest -n $(JOBS) -m "$(PLAIN)" $(GENERIC)

# The browser opens the documentation with the results of its notebooks.
# Nothing is left out here: if torch or Chromium is missing, this fails.
test-heavy: .venv/heavy docs ## the tests that need torch or a browser
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ echo "the browser tests need Chromium. On Debian or Ubuntu: make system-packages, or apt-get install chromium"; exit 1; }
	$(BIN)/pytest -n $(JOBS) --dist loadfile --nothing-missing -m "(torch or browser) and not slow"

# No other target calls this one. CI does.
system-packages: ## install Chromium with apt-get, as root, if it is missing
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ apt-get update -qq && apt-get install -qq -y chromium; }

test-slow: .venv/test ## the tests that take minutes and 12 GB of disk space in TMPDIR
	$(BIN)/pytest -m slow

# Other libraries, beside the test environment. Torch first, or pip would install a larger build of torch.
.venv/rivals: .venv/test
	$(PIP) install '$(TORCH)' --editable '.[all,embed]' --group rivals
	$(PIP) install --no-deps hyperlib || echo "hyperlib could not be built: it is listed as absent"
	@touch $@

# Programs that are missing are listed as absent.
bench-ready: .venv/rivals
	@command -v clearcut >/dev/null && command -v quicktree >/dev/null || \
		echo "clearcut or quicktree is missing and listed as absent. On Debian or Ubuntu: apt-get install clearcut quicktree"

bench: bench-ready ## compare with other libraries and programs, in about six minutes; writes the tables of docs/developers/rivals.md
	$(BIN)/python -m benchmarks rivals

bench-full: bench-ready ## the same at larger sizes, and every other table of benchmarks/ (hours)
	$(BIN)/python -m benchmarks rivals --full
	$(BIN)/python -m benchmarks

paper: .venv/test ## compute the paper's tables again and compare them with the stored ones; PAPER="--write" stores them
	$(BIN)/python -m paper $(PAPER)

harden: .venv/test ## run all stress tests; HARDEN="parsers --minutes 60" runs one of them
	$(BIN)/python -m harden $(HARDEN)

# The last two commands are for the kernels: as Python, on few examples, for the tracer to see them. The test that is
# left out allows files of 20 bytes, which are too few for the tracer.
coverage: .venv/test ## lines and branches that no test reaches, kernels included
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest -m "not torch and not browser" --ignore=tests/paper \
		--deselect tests/cli/test_shell.py::test_a_full_disk_leaves_nothing_behind
	-HARDEN_EXAMPLES=12 HARDEN_REPORT=/dev/null $(BIN)/coverage run -m pytest -p harden.uncompiled -p harden.examples \
		$$($(BIN)/python -c "from harden import twins; print(*twins.tests())")
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --show-missing

# `build` makes the wheel from the sdist, so that both are known to be whole; twine reads them as PyPI would.
.venv/dist: .venv/test
	$(PIP) install 'build>=1.2' 'twine>=6.1'
	@touch $@

dist: .venv/dist ## build the wheel and the sdist in dist/, and inspect them
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m release.check dist

# Each in an empty environment outside the checkout; TESTS=tests/tree is a part of the tests.
test-dist: dist ## install the wheel on PYTHON=python3.13, and run the sdist's tests against it
	$(BIN)/python -m release.trial --python $(PYTHON) --jobs $(JOBS) -- $(TESTS)

test-lowest: dist ## the same with the lowest versions that pyproject.toml allows, on PYTHON=python3.11
	$(BIN)/python -m release.trial --python $(PYTHON) --jobs $(JOBS) --lowest -- $(TESTS)

format: .venv/test ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment and all generated files
	rm -rf .venv .coverage* docs/_build docs/reference/generated demo-output paper/check dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks paper harden release -name __pycache__ -type d -prune -exec rm -rf {} +
