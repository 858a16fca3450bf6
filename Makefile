# The few commands a user needs; CMake does the work (see CMakePresets.json).
TENDRIL = build/release/bin/tendril

all: build

setup:
	@scripts/setup packages

build: setup
	@mkdir -p build
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@grep -h 'page is left out' build/configure.log || true
	@cmake --build --preset release

# A curl of hair, a wisp, a combing and a wire, from scene to picture and report.
demo: build
	@scripts/demo $(TENDRIL) out/demo

# The Python package: PYTHONPATH=build/release/python, or pip install ./python
python:
	@scripts/setup packages packages-python
	@$(MAKE) --no-print-directory build

test:
	@scripts/setup packages packages-python
	@$(MAKE) --no-print-directory build
	@ctest --preset release -j "$$(nproc)"

# Debian packages in build/packages; 'scripts/test-deb' tries them in a fresh system.
deb:
	@scripts/make-deb

# The sources as committed.
dist:
	@mkdir -p build/packages
	@git archive --format=tar.gz --prefix=tendril-$$(git describe --always)/ -o build/packages/tendril.tar.gz HEAD
	@echo build/packages/tendril.tar.gz

bench: build
	@scripts/bench $(TENDRIL)

# The generated pages: scene keys and command.
docs: build
	@$(TENDRIL) manual --format markdown >docs/command.md
	@$(TENDRIL) manual --format scene >docs/scene.md
	@echo 'docs/command.md and docs/scene.md are up to date'

clean:
	rm -rf build out

.PHONY: all setup build demo python deb dist test bench docs clean
