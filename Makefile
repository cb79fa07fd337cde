# Every target sets up what it needs in .venv; a fresh machine wants only Python 3.11+, a C++ compiler and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
CORE   := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.cc' -o -name '*.hh')
CXX_SOURCES := $(shell find cpp -name '*.cc' -o -name '*.hh')
BOOST   = $$($(BIN)/python -c "import pathlib, sysconfig; print(next(p.parent for p in pathlib.Path(sysconfig.get_path('data')).rglob('boost/test/included/unit_test.hpp')).parents[2])")

# What is imported is compiled then: most of what is installed never is.
export PIP_NO_COMPILE = 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
unexport PYTHONDONTWRITEBYTECODE  # or every process that a test starts would compile the whole package once more

.PHONY: help install demo test test-python test-core test-clang sanitize sanitize-core sanitize-threads \
  sanitize-python lint format bench docs fuzz fuzz-models campaign mutants mutants-core audit clean
help:
	@echo "make install  a ready-to-use .venv          make demo   the main job on the embedded example"
	@echo "make test     the whole suite               make lint   ruff, mypy --strict, clang-format"
	@echo "make sanitize ASan, UBSan and TSan          make bench  speed and memory next to peers"
	@echo "make docs     the MkDocs site in site/      make fuzz   atheris on the readers"
	@echo "make test-clang  the core's tests with clang and libc++"
	@echo "make campaign damaged and forged files, 120,000 of them; make fuzz-models: some of them with ASan and UBSan"
	@echo "make audit    known vulnerabilities in what the tests run with (pip-audit, needs the package index)"
	@echo "make mutants  small mistakes in the code, one by one: do the tests notice?  make mutants-core: in the core"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "treeglot needs Python 3.11 or newer: set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

# The core is compiled once, in BUILD: for the package, which is installed editable, and for the core's tests. What builds it
# stays in .venv, so that later only what has changed is compiled.
BUILD  := build/core
$(VENV)/.build: $(BIN)/python pyproject.toml
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], 'cmake>=3.25', 'ninja>=1.11', sep='\n')" \
	  | $(BIN)/python -m pip install --quiet --requirement /dev/stdin
	touch $@
$(VENV)/.user: $(VENV)/.build $(CORE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --config-settings=build-dir=$(BUILD) --editable '.[udpipe]'
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

# CMAKE_ARGS goes to every configuration, for example -DCMAKE_CXX_COMPILER_LAUNCHER=ccache.
configure = $(BIN)/cmake -S . -B $@ -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja $(CMAKE_ARGS)
core_tests = $(configure) -DTREEGLOT_TESTS=ON -DBOOST_HEADERS=$(BOOST)
test-core: $(VENV)/.test
	$(BIN)/cmake -S . -B $(BUILD) -DTREEGLOT_TESTS=ON -DBOOST_HEADERS=$(BOOST)
	$(BIN)/cmake --build $(BUILD) --target treeglot_core_tests
	$(BUILD)/treeglot_core_tests

# The core's tests with another compiler and another standard library, if they are installed.
CLANG ?= $(firstword $(foreach name,clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16,$(shell command -v $(name))))
build/core-clang: $(VENV)/.test
	$(core_tests) -DCMAKE_CXX_COMPILER=$(CLANG) -DCMAKE_CXX_FLAGS=-stdlib=libc++
ifneq ($(filter test-clang,$(MAKECMDGOALS)),)
  HAS_CLANG := $(if $(CLANG),$(shell $(CLANG) -stdlib=libc++ -include version -x c++ -fsyntax-only /dev/null 2>/dev/null && echo yes))
endif
test-clang: $(if $(HAS_CLANG),build/core-clang)
ifdef HAS_CLANG
	$(BIN)/cmake --build $<
	$</treeglot_core_tests
else
	@echo "no clang++ with libc++ here (apt install clang libc++-dev libc++abi-dev): nothing tested"
endif

# Sanitizers: AddressSanitizer and UndefinedBehaviorSanitizer over the core's tests and over the part of the Python suite that
# works on the core, ThreadSanitizer over the core's tests.
CORE_FACING := align_learning align_models align_symmetrize conllu forest ghkm_rules hdr_rules hierarchical_rules hypergraph \
  lm mapped_files mwu_forest mwu_rules native_corpus native_json parsed_corpus phrase_decoder phrases rule_table rules_extract subtree_lexical tables tree_decoder \
  tree2tree_rules tree_kernels tuning words
sanitize: sanitize-core sanitize-threads sanitize-python
build/core-sanitize: $(VENV)/.test
	$(core_tests) -DTREEGLOT_SANITIZE=address
sanitize-core: build/core-sanitize
	$(BIN)/cmake --build $<
	UBSAN_OPTIONS=print_stacktrace=1 $</treeglot_core_tests
build/core-sanitize-threads: $(VENV)/.test
	$(core_tests) -DTREEGLOT_SANITIZE=thread
sanitize-threads: build/core-sanitize-threads
	$(BIN)/cmake --build $<
	setarch $$(uname -m) -R $</treeglot_core_tests
# The package with an extension of its own, which comes before the installed one also in processes that tests start; Python
# is not linked to the sanitizer, so it is loaded before everything else, with the library whose exceptions it watches.
build/python-sanitize: $(VENV)/.test
	$(configure) -DPython_EXECUTABLE=$(abspath $(BIN))/python -DTREEGLOT_SANITIZE=address
define sanitized_package
	$(BIN)/cmake --build $<
	rm -rf $</site && mkdir -p $</site/treeglot
	ln -s $(CURDIR)/src/treeglot/* $</site/treeglot/
	rm -f $</site/treeglot/_core*.so && ln -s $(CURDIR)/$</_core*.so $</site/treeglot/
	printf '%s\n' 'import sys' \
	  'sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]' >$</site/sitecustomize.py
endef
sanitized = PYTHONPATH=$(CURDIR)/$</site LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
sanitize-python: build/python-sanitize
	$(sanitized_package)
	$(sanitized) $(BIN)/python -m pytest -q --numprocesses $(TEST_JOBS) --dist worksteal $(CORE_FACING:%=tests/test_%.py)

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

# Damaged and forged files of every kind (tests/campaign): a run that is stopped goes on. CAMPAIGN has further options, such as
# --seed 2 or --kind corpus.
campaign: $(VENV)/.test
	$(BIN)/python tests/campaign/run.py $(CAMPAIGN)
fuzz-models: build/python-sanitize
	$(sanitized_package)
	$(sanitized) $(BIN)/python tests/campaign/run.py --damages 4000 --forged 4000 --contents 4000 --state build/campaign-sanitize $(CAMPAIGN)

# Sampled by seed, MUTANTS of them; what was tried is kept in build/mutants, so a run may be stopped and goes on.
MUTANTS ?= 300
mutants: $(VENV)/.test
	$(BIN)/python tests/mutants.py --number $(MUTANTS)
mutants-core: $(VENV)/.test
	$(BIN)/python tests/mutants.py --core --boost $(BOOST)

audit: $(VENV)/.test
	$(BIN)/python packaging/audit.py

clean:
	rm -rf $(VENV) build site demo
