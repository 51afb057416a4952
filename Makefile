# What it can do: `make help`. Everything it needs is set up by itself on first use.

.DEFAULT_GOAL := help
unexport VERILATOR_ROOT # a stale one makes newer Verilators refuse to run
unexport PYTHONDONTWRITEBYTECODE # each simulation is a Python of its own: it would compile all modules
export OPENBLAS_NUM_THREADS ?= 1 # threads for matrices of ten rows only wait for each other
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/.tools/verilator/usr/bin:$(PATH)

PY := .venv/bin/python
SETUP := scripts/dev/setup.sh
PYTEST := $(PY) -m pytest
KNOWN_BENCHES := $(filter-out common,$(patsubst tb/%/Makefile,%,$(wildcard tb/*/Makefile)))

# TAKES.<target>: the variables of the command line that it has a use for; any other is refused.
DEMO_TAKES := SIM ARITH STEPS REBASE BASE LANES OUT SEED WAVES REFERENCE
TAKES.pendulum := $(DEMO_TAKES)
TAKES.fourbar := $(DEMO_TAKES)
TAKES.run := SCENARIO TARGET $(DEMO_TAKES) ANIMATE FORCES
TAKES.sweep := SCENARIO VARY COUNT SEED TARGET ARITH STEPS BASE REBASE SIM LANES WORKERS SCHEDULER OUT
TAKES.robot := URDF FUNCTION FLOATING TARGET ROWS SIM ARITH LANES SEED OUT WAVES CONTEXTS DATAPATHS STALLS
TAKES.closed-loop := URDF TARGET STEPS SIM ARITH LANES SEED OUT WAVES
TAKES.test := CHANGED
$(foreach bench,$(KNOWN_BENCHES),$(eval TAKES.$(bench) := SIM SEED TEST CONFIG WAVES SETTINGS))
TAKES.regress := BENCHES SEEDS SEED HOURS SIM WORKERS SCHEDULER
TAKES.parameters := COUNT SEED
TAKES.code-coverage := WORKERS
TAKES.formats := UNITS FORMATS SEED
TAKES.mutate := UNITS COUNT SEED WORKERS
TAKES.debug := BENCH CONFIG SIM SEED TEST
TAKES.waves := BENCH CONFIG FILE
TAKES.faults := UNITS COUNT SEED WORKERS AT WAVES
TAKES.fuzz := UNITS COUNT SEED WAVES
TAKES.bench := ONLY
TAKES.study := ONLY
TAKES.synth := UNITS FAMILY SEEDS
TAKES.families := FAMILY
TAKES.formal := UNITS FAST PLANT
TAKES.setup := SIM
# What any target takes: where tools are, and what they read from the environment.
TAKES := CI PYTHON CC CXX HOME PATH TMPDIR OPENBLAS_NUM_THREADS PYMODEL_CACHE PYTEST_ADDOPTS \
  CCACHE_% DASK_% PIP_% UV_% XDG_%
SWITCHES := ANIMATE CHANGED FAST FLOATING FORCES PLANT REFERENCE WAVES

GOALS := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
TAKEN := $(strip $(foreach goal,$(GOALS),$(TAKES.$(goal))))
TARGETS = $(KNOWN_BENCHES) $(shell sed -n 's/^\([a-z-]*\):.* \#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))
$(foreach name,$(filter-out $(TAKES) $(TAKEN),$(GIVEN)),$(if $(filter-out $(TARGETS),$(GOALS)),,$(error \
  $(name)=$($(name)): make $(GOALS) takes $(or $(TAKEN),no variables))))
$(foreach name,$(filter $(SWITCHES),$(TAKEN)),$(if $(filter-out 0 1,$($(name)))$(word 2,$($(name))),$(error \
  $(name)=$($(name)): must be 0 or 1)))
$(foreach name,$(TAKEN),$(if $(findstring ',$($(name))),$(error \
  $(name)=$($(name)): must be without an apostrophe)))

# What SIM needs; both simulators where it does not say which. Another one is refused in Python.
SIMULATORS = $(if $(filter-out all auto,$(SIM)),$(filter icarus verilator,$(SIM)),icarus verilator)

RUN_OPTIONS = $(if $(SIM),--sim '$(SIM)') $(if $(ARITH),--arith '$(ARITH)') $(if $(STEPS),--steps '$(STEPS)') \
  $(if $(REBASE),--rebase '$(REBASE)') $(if $(BASE),--base '$(BASE)') $(if $(LANES),--lanes '$(LANES)') \
  $(if $(SEED),--seed '$(SEED)') $(if $(filter-out 0,$(WAVES)),--waves) \
  $(if $(filter 0,$(REFERENCE)),--no-reference)
# $(call named,FILE): its name without folder and suffix, for a folder of its own.
space := $(subst ,, )
named = $(basename $(notdir $(subst $(space),_,$1)))

##@ Demos and runs
.PHONY: pendulum fourbar
pendulum: setup ## double pendulum on co-processor and step engine, into build/pendulum
fourbar: setup ## four-bar on co-processor and step engine, into build/fourbar
pendulum fourbar:
	@$(PY) -m scripts.kernel.start scripts.demo $@ $(if $(OUT),--out '$(OUT)') $(RUN_OPTIONS)

.PHONY: run
run: venv ## SCENARIO=f.toml [TARGET=model|native|coprocessor|step SIM= ARITH= STEPS= OUT= LANES=2+2 ANIMATE=1 FORCES=1]
	@$(if $(SCENARIO),,$(error say which: make run SCENARIO=scenarios/double_pendulum.toml))
	@$(if $(filter coprocessor step,$(TARGET)),$(SETUP) $(SIMULATORS))
	@$(PY) -m scripts.kernel.start scripts.run --scenario '$(SCENARIO)' --target '$(or $(TARGET),model)' \
	  --out '$(or $(OUT),build/$(call named,$(SCENARIO)))' \
	  $(if $(filter-out 0,$(ANIMATE)),--animate) $(if $(filter-out 0,$(FORCES)),--forces) $(RUN_OPTIONS)

.PHONY: notebook
notebook: venv ## docs/notebook.ipynb from top to bottom, with its outputs into build/notebook.ipynb
	@$(SETUP) icarus
	@$(PY) -m scripts.kernel.start scripts.evidence.notebook

.PHONY: sweep
sweep: venv ## SCENARIO=f.toml VARY="body[0].mass=1:2:11" [TARGET=model|native|engine COUNT= OUT=f.csv WORKERS=]
	@$(if $(and $(SCENARIO),$(VARY)),,$(error say which: make sweep SCENARIO=scenarios/double_pendulum.toml \
	  VARY="body[0].q=-3:3:7 body[1].q=-3:3:7"))
	@$(if $(filter engine,$(TARGET)),$(SETUP) $(SIMULATORS))
	@$(PY) -m scripts.kernel.start scripts.sweeps.variations '$(SCENARIO)' $(foreach one,$(VARY),--vary '$(one)') \
	  $(if $(COUNT),--count '$(COUNT)') $(if $(TARGET),--target '$(TARGET)') \
	  $(if $(WORKERS),--workers '$(WORKERS)') $(if $(SCHEDULER),--scheduler '$(SCHEDULER)') $(RUN_OPTIONS) \
	  --out '$(or $(OUT),build/sweeps/$(call named,$(SCENARIO)).parquet)'

.PHONY: robot
robot: venv ## URDF=f.urdf FUNCTION=dFD [FLOATING=1 TARGET=model|step|array|native ROWS=16 SIM= ARITH= LANES=2+2 OUT=]
	@$(if $(and $(URDF),$(FUNCTION)),,$(error say which: make robot URDF=robots/iiwa14.urdf FUNCTION=dFD))
	@$(if $(filter step array,$(TARGET)),$(SETUP) $(SIMULATORS))
	@$(PY) -m scripts.kernel.start scripts.robot --urdf '$(URDF)' --function '$(FUNCTION)' \
	  --target '$(or $(TARGET),model)' $(if $(filter-out 0,$(FLOATING)),--floating) \
	  $(if $(ROWS),--rows '$(ROWS)') $(if $(CONTEXTS),--contexts '$(CONTEXTS)') \
	  $(if $(DATAPATHS),--datapaths '$(DATAPATHS)') $(if $(STALLS),--stalls '$(STALLS)') $(RUN_OPTIONS) \
	  --out '$(or $(OUT),build/robot/$(call named,$(URDF))-$(FUNCTION))'

.PHONY: closed-loop
closed-loop: venv ## URDF=f.urdf [TARGET=model|step STEPS=1000 SIM= ARITH= LANES=2+2 OUT=]: PD control, 1 s
	@$(if $(URDF),,$(error say which: make closed-loop URDF=robots/iiwa14.urdf))
	@$(if $(filter step,$(TARGET)),$(SETUP) $(SIMULATORS))
	@$(PY) -m scripts.kernel.start scripts.evidence.robots.closed_loop --urdf '$(URDF)' \
	  --target '$(or $(TARGET),model)' $(RUN_OPTIONS) \
	  --out '$(or $(OUT),build/closed_loop/$(call named,$(URDF)))'

##@ Verification
# What is installed is set up again before tests need it: it compiles where the user's cache is gone.
TESTED_TOOLS = $(patsubst .venv/.stamp-%,%,$(wildcard .venv/.stamp-formal .venv/.stamp-synth))

.PHONY: test
test: setup ## whole regression, both simulators, and build/report/index.html [CHANGED=1: a quick check while you work]
	@$(if $(filter-out 0,$(CHANGED)),,rm -rf build/results build/report \
	  $(filter-out build/coverage/code%,$(wildcard build/coverage/*)))
	@$(if $(TESTED_TOOLS),$(SETUP) $(TESTED_TOOLS) || true)
	@$(PYTEST) -n 2 --maxschedchunk 1 --junitxml=build/report/junit.xml -p scripts.dev.report.plugin \
	  -p scripts.dev.changed.plugin $(if $(filter-out 0,$(CHANGED)),--changed)

.PHONY: $(KNOWN_BENCHES)
$(KNOWN_BENCHES): setup
	@$(PYTEST) tb/$@ $(if $(SIM),--sim='$(SIM)') $(if $(SEED),--seed='$(SEED)') \
	  $(if $(TEST),--cocotb-test='$(TEST)') $(if $(CONFIG),--config='$(CONFIG)') \
	  $(if $(SETTINGS),--settings='$(SETTINGS)') $(if $(filter-out 0,$(WAVES)),--waves)

.PHONY: regress
regress: venv ## seeds x configurations x simulators [BENCHES="fp_add" SEEDS=10 SEED= HOURS=1 SIM= WORKERS= SCHEDULER=]
	@$(SETUP) $(SIMULATORS)
	@$(PY) -m scripts.kernel.start scripts.dev.regress.command $(BENCHES) $(if $(SEEDS),--seeds '$(SEEDS)') \
	  $(if $(SEED),--seed '$(SEED)') $(if $(HOURS),--hours '$(HOURS)') $(if $(SIM),--sim '$(SIM)') \
	  $(if $(WORKERS),--workers '$(WORKERS)') $(if $(SCHEDULER),--scheduler '$(SCHEDULER)')

.PHONY: parameters
parameters: venv ## docs/parameters.md: legal values, where run [COUNT=20 SEED=: elaborate so many combinations instead]
	@$(if $(SEED),$(if $(COUNT),,$(error SEED=$(SEED): only with COUNT)))
	@$(if $(COUNT),$(SETUP) icarus)
	@$(PY) -m scripts.kernel.start $(if $(COUNT),scripts.evidence.parameters.elaborate --count '$(COUNT)' \
	  $(if $(SEED),--seed '$(SEED)'),scripts.evidence.parameters.document)

.PHONY: coverage
coverage: setup ## functional coverage: what the last regression met, what is missing, into build/coverage
	@$(if $(wildcard build/coverage/met/*),,$(PYTEST) -n 2 --maxschedchunk 1 tb)
	@$(PY) -m scripts.kernel.start scripts.evidence.coverage.command

.PHONY: code-coverage code-coverage-results
code-coverage: venv ## lines, branches, toggles under Verilator, each hole explained; resumable, minutes [WORKERS=]
	@$(SETUP) verilator
	@$(PY) -m scripts.kernel.start scripts.evidence.coverage.code.command $(if $(WORKERS),--workers '$(WORKERS)')
code-coverage-results: venv ## docs/code_coverage.md from what `make code-coverage` left in build/
	@$(PY) -m scripts.kernel.start scripts.evidence.coverage.code.document

.PHONY: example-robots
example-robots: venv ## the seven functions on 40 robots of PyPI's example-robot-data, a large download
	@$(SETUP) robots
	@$(PYTEST) -m example_robots pymodel/tests/mechanism/test_example_robots.py

.PHONY: formats
formats: venv ## all float formats of up to 32 bits under Icarus [UNITS="fp_add" FORMATS="4/20 5/26"]
	@$(SETUP) icarus
	@$(PY) -m scripts.kernel.start scripts.evidence.formats $(UNITS) $(if $(FORMATS),--formats '$(FORMATS)') \
	  $(if $(SEED),--seed '$(SEED)')

.PHONY: mutate mutation
mutate: venv ## how many planted faults benches and proofs find, resumable [UNITS="fp_add" COUNT=120 SEED="1 2" WORKERS=]
	@$(PY) -m scripts.kernel.start scripts.evidence.mutate.run --set-up "synth formal verilator" $(UNITS) \
	  $(if $(COUNT),--count '$(COUNT)') $(if $(SEED),--seed $(SEED)) $(if $(WORKERS),--workers '$(WORKERS)')
mutation: venv ## docs/mutation.md from what `make mutate` left in build/
	@$(PY) -m scripts.kernel.start scripts.evidence.mutate.document

.PHONY: debug
debug: venv ## BENCH= CONFIG= SIM= SEED= TEST=, from the report: a red test again, its waveform at the failure
	@$(if $(and $(BENCH),$(CONFIG),$(SIM),$(TEST)),,$(error say which: make debug BENCH= CONFIG= SIM= TEST= [SEED=]; \
	  the line is in build/report/index.html))
	@$(SETUP) $(SIMULATORS)
	@$(PY) -m scripts.kernel.start scripts.dev.waves.debug '$(BENCH)' --config='$(CONFIG)' --sim='$(SIM)' \
	  --test='$(TEST)' $(if $(SEED),--seed='$(SEED)')

.PHONY: faults fuzz faults-results
faults: venv ## flipped bits in the tops' registers, resumable [UNITS="step_engine" COUNT=2500 SEED=1 WORKERS= AT= WAVES=]
	@$(SETUP) verilator
	@$(PY) -m scripts.kernel.start scripts.evidence.faults.run $(UNITS) $(if $(COUNT),--count '$(COUNT)') \
	  $(if $(SEED),--seed '$(SEED)') $(if $(WORKERS),--workers '$(WORKERS)') $(if $(AT),--at '$(AT)') \
	  $(if $(filter-out 0,$(WAVES)),--waves)
fuzz: venv ## random accesses of the tops' registers against a model [UNITS="step_engine" COUNT=1000000 SEED=1 WAVES=]
	@$(SETUP) verilator
	@$(PY) -m scripts.kernel.start scripts.evidence.fuzz.run $(UNITS) $(if $(COUNT),--count '$(COUNT)') \
	  $(if $(SEED),--seed '$(SEED)') $(if $(filter-out 0,$(WAVES)),--waves)
faults-results: venv ## docs/faults.md from what `make faults fuzz` left in build/
	@$(PY) -m scripts.kernel.start scripts.evidence.faults.document

.PHONY: waves
waves: venv ## BENCH=<bench> [CONFIG= FILE=]: open its last waveform with the bench's layout
	@$(if $(BENCH),,$(error say which: make waves BENCH=<bench>; benches: $(KNOWN_BENCHES)))
	@$(PY) -m scripts.kernel.start scripts.dev.waves.command '$(BENCH)' $(if $(FILE),--file='$(FILE)') \
	  $(if $(CONFIG),--config='$(CONFIG)')

.PHONY: manifests
manifests: venv ## hdca.core (FuseSoC), Bender.yml, rtl/hdca.f, from rtl/rtl.f
	@$(PY) -m scripts.kernel.start scripts.dev.manifests

.PHONY: bench native-results array-results sincos longrun results reference gallery
bench: setup ## speeds, cycles of step engine and array, native kernels, into build/bench [ONLY=native]
	@$(if $(filter-out native,$(ONLY)),,$(SETUP) bench || true)
	@$(PY) -m scripts.kernel.start scripts.evidence.benchmarks.bench $(if $(ONLY),--only '$(ONLY)')
native-results: venv ## docs/native_results.md from what `make bench ONLY=native` left in build/
	@$(PY) -m scripts.kernel.start scripts.evidence.benchmarks.native_document
array-results: venv ## docs/array_results.md from what `make bench ONLY=array` left in build/
	@$(PY) -m scripts.kernel.start scripts.evidence.benchmarks.array_document
sincos: venv ## worst errors of sine and cosine over every binary32 angle, about a minute
	@$(PY) -m scripts.kernel.start pymodel.arith.sincos_error
longrun: venv ## 100 s of the four-bar, with and without re-basing, into build/longrun
	@$(PY) -m scripts.kernel.start scripts.evidence.benchmarks.longrun
results: venv ## docs/results.md from what `make test bench longrun` left in build/
	@$(PY) -m scripts.kernel.start scripts.evidence.results.document
reference: venv ## docs/scenario.md, the reference of scenario files
	@$(PY) -m scripts.kernel.start scripts.evidence.scenario_reference
gallery: venv ## docs/gallery.md, all shipped scenarios in motion, half a minute
	@$(PY) -m scripts.kernel.start scripts.evidence.gallery

.PHONY: study
study: venv ## docs/study.md: HDCA against DCA in loops (Chadaj, Malczyk, Fraczek 2017), minutes [ONLY=runs|depth]
	@$(PY) -m scripts.kernel.start scripts.evidence.study.command $(if $(ONLY),--only '$(ONLY)')

.PHONY: robots-tables
robots-tables: venv ## docs/robots_results.md: errors, cycles, times; after make closed-loop TARGET=step
	@$(PY) -m scripts.kernel.start scripts.evidence.robots.measure
	@$(PY) -m scripts.kernel.start scripts.evidence.robots.document

.PHONY: families
families: venv ## the step engine through Yosys for xilinx, ecp5, nexus, gowin, gatemate, ice40, efinix, polarfire [FAMILY=]
	@$(PY) -m scripts.kernel.start scripts.evidence.families --set-up synth $(if $(FAMILY),--family '$(FAMILY)')

.PHONY: synth cost
synth: venv ## area and clock of all hardware [UNITS="fp_add step_engine:2+2" FAMILY=ecp5 SEEDS=3]
	@$(PY) -m scripts.kernel.start scripts.evidence.cost.synth --set-up synth $(UNITS) \
	  $(if $(FAMILY),--family '$(FAMILY)') $(if $(SEEDS),--seeds '$(SEEDS)')
cost: venv ## docs/hardware_cost.md from what `make synth` left in build/, errors by format
	@$(PY) -m scripts.kernel.start scripts.evidence.cost.pareto
	@$(PY) -m scripts.kernel.start scripts.evidence.cost.formats
	@$(PY) -m scripts.kernel.start scripts.evidence.cost.document

.PHONY: formal formal-results
formal: venv ## proofs about the RTL, into build/formal [UNITS="fp_add axil_slave" FAST=1: what CI runs; PLANT=1: bugs]
	@$(PY) -m scripts.kernel.start scripts.evidence.formal.command --set-up formal $(UNITS) \
	  $(if $(filter-out 0,$(FAST)),--fast) $(if $(filter-out 0,$(PLANT)),--plant)
formal-results: venv ## docs/formal.md from what `make formal` left in build/
	@$(PY) -m scripts.kernel.start scripts.evidence.formal.document

.PHONY: lint
lint: venv ## Verilator -Wall and verible over the RTL, ruff over the Python, mypy over pymodel
	@$(SETUP) verilator
	@$(PY) -m scripts.kernel.start scripts.dev.lint

.PHONY: docs
docs: venv ## build/site, the pages of docs/ with search and an API reference; links are checked
	@$(PY) -m sphinx -q -W --keep-going -c docs -b html . build/site && echo build/site/index.html

.PHONY: report
report: venv ## build/report/index.html from the results at hand
	@$(PY) -m scripts.kernel.start scripts.dev.report.command

##@ Housekeeping
.PHONY: setup venv
setup: venv ## Python packages and simulators (done by the others when needed) [SIM=]
	@$(if $(filter setup,$(GOALS)),$(if $(filter-out icarus verilator all,$(SIM)),$(error \
	  SIM=$(SIM): must be icarus, verilator or all)))
	@$(SETUP) $(SIMULATORS)
venv:
	@$(SETUP) venv

.PHONY: doctor
doctor: ## what is installed, what is missing, how to get it
	@python=$$($(SETUP) python) && $$python -m pymodel.app.doctor

.PHONY: clean distclean
clean: ## remove build/
	rm -rf build
distclean: clean ## remove .venv and .tools too
	rm -rf .venv .tools

.PHONY: help
help: ## this text
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-21s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nBenches: make <bench> [SIM=icarus|verilator SEED= TEST= CONFIG= WAVES=1]\n  %s\n' \
	  "$(or $(KNOWN_BENCHES),none yet)"
