# What it can do: `make help`. Targets, their variables and what they run stand in
# scripts/dev/make_front.py and, of runs, in pymodel/app/table.py; here are none. Everything that a
# target needs is set up by itself on first use.

.DEFAULT_GOAL := help
include scripts/dev/given.mk
unexport VERILATOR_ROOT # a stale one makes newer Verilators refuse to run
unexport PYTHONDONTWRITEBYTECODE # each simulation is a Python of its own: it would compile all modules
export OPENBLAS_NUM_THREADS ?= 1 # threads for matrices of ten rows only wait for each other
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/.tools/verilator/usr/bin:$(PATH)

GOALS := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))
export MAKE_GOALS := $(GOALS)
export MAKE_GIVEN := $(GIVEN)
WITHOUT_VENV := clean distclean doctor help

.PHONY: $(GOALS)
$(GOALS): export MAKE_GOAL = $@
$(filter $(WITHOUT_VENV),$(GOALS)):
	@$(or $(wildcard .venv/bin/python),python3) -m scripts.dev.make_front
$(filter-out $(WITHOUT_VENV),$(GOALS)):
	@scripts/dev/setup.sh venv
	@.venv/bin/python -m scripts.dev.make_front
