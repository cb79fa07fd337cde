# Every target sets up what it needs in .venv; a fresh machine wants only Python 3.11+, a C++ compiler and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
CORE   := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.cc' -o -name '*.hh')
CXX_SOURCES := $(shell find cpp -name '*.cc' -o -name '*.hh')
BOOST   = $$($(BIN)/python -c "import pathlib, sysconfig; print(next(p.parent for p in pathlib.Path(sysconfig.get_path('data')).rglob('boost/test/included/unit_test.hpp')).parents[2])")

.PHONY: help install demo test test-python test-core sanitize lint format bench docs fuzz clean
help:
	@echo "make install  a ready-to-use .venv          make demo   the main job on the embedded example"
	@echo "make test     the whole suite               make lint   ruff, mypy --strict, clang-format"
	@echo "make sanitize the core under ASan+UBSan     make bench  speed and memory next to peers"
	@echo "make docs     the MkDocs site in site/      make fuzz   atheris on the readers"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "treeglot needs Python 3.11 or newer: set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.user: $(BIN)/python $(CORE)
	$(BIN)/python -m pip install --quiet --editable '.[udpipe]'
	touch $@
# What an extra asks for, without building the core once more.
extra = $(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$(1)'], sep='\n')" \
  | $(BIN)/python -m pip install --quiet --requirement /dev/stdin
$(VENV)/.test: $(VENV)/.user
	$(call extra,test)
	touch $@
$(VENV)/.lint: $(VENV)/.test
	$(call extra,lint)
	touch $@
$(VENV)/.docs: $(VENV)/.user
	$(call extra,docs)
	touch $@

install: $(VENV)/.user

test: test-core test-python
# On two cores the suite takes half the time in two processes; TEST_JOBS=0 keeps it in one, for a debugger.
TEST_JOBS ?= 2
test-python: $(VENV)/.test
	$(BIN)/python -m pytest -q --numprocesses $(TEST_JOBS) --dist worksteal

build/core-tests build/core-sanitize: $(VENV)/.test
	$(BIN)/cmake -S . -B $@ -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DTREEGLOT_TESTS=ON \
	  -DBOOST_HEADERS=$(BOOST) -DTREEGLOT_SANITIZE=$(if $(findstring sanitize,$@),ON,OFF)
test-core: build/core-tests
	$(BIN)/cmake --build $<
	$</treeglot_core_tests
sanitize: build/core-sanitize
	$(BIN)/cmake --build $<
	UBSAN_OPTIONS=print_stacktrace=1 $</treeglot_core_tests

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_SOURCES)

demo: $(VENV)/.user
	$(BIN)/treeglot demo demo

$(VENV)/.bench: $(VENV)/.test
	$(call extra,bench)
	touch $@
bench: $(VENV)/.bench
	$(BIN)/python bench/run_all.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --quiet
	@echo "open site/index.html"

# Each fuzzer runs for FUZZ_SECONDS; what it finds is kept in fuzz-corpus/.
FUZZ_SECONDS ?= 60
$(VENV)/.fuzz: $(VENV)/.test
	$(BIN)/python -m pip install --quiet atheris
	touch $@
fuzz: $(VENV)/.fuzz
	$(BIN)/python tests/fuzz_readers.py --seconds $(FUZZ_SECONDS)

clean:
	rm -rf $(VENV) build site demo
