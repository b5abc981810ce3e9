# make demo   set up and run the main job
# make test   lint, walls, types, tests
# make setup  only install
# make docs   renew generated pages, build the site in docs/_site
# make pictures  run the tutorials, take their pictures and the gallery's (needs chromium)
# make wheel  build a wheel that brings its kernels along
# make bundle rebuild the viewer of the report (needs node and npm)
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test setup lint docs pictures bench bundle wheel check-wheels clean

demo: .venv/core.stamp
	@$(BIN)/armtwin demo

setup: .venv/core.stamp

test: lint
	$(BIN)/python tests/compile_kernels.py
	$(BIN)/pytest -n 2 --dist worksteal

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

docs: .venv/docs.stamp
	@for page in api constants laws options pictures; do $(BIN)/python docs/make_$$page.py || exit 1; done
	$(BIN)/python -m sphinx -W -q docs docs/_site
	@echo "open docs/_site/index.html ($$(du -sh docs/_site | cut -f1))"

pictures: .venv/dev.stamp
	@for script in gallery tutorials notebook; do $(BIN)/python docs/make_$$script.py || exit 1; done

bench: .venv/dev.stamp
	@for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

bundle:
	cd web && npm ci --no-audit --no-fund && npm run build

.venv/core.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "armtwin needs Python 3.11 or newer, this is " + sys.version.split()[0] + ". Choose another: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/dev.stamp: .venv/core.stamp
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

wheel: .venv/core.stamp
	$(BIN)/python packaging/build_kernels.py
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

.venv/docs.stamp: .venv/core.stamp
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

# Every package of the core must have wheels for the platforms of its users (needs the package registry).
check-wheels: .venv/core.stamp
	@for platform in win_amd64 "macosx_14_0_arm64 --platform macosx_12_0_arm64 --platform macosx_11_0_arm64"; do \
		for package in numpy scipy numba llvmlite pydantic pydantic_core typer rich defusedxml clarabel threadpoolctl; do \
			$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 \
				--platform $$platform --dest .venv/wheels $$package || exit 1; \
		done; echo "wheels exist for $$platform"; \
	done

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache armtwin_out
