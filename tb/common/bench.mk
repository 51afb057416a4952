# Included by tb/<bench>/Makefile, so that `make SIM=... SEED=... TEST=... WAVES=1 CONFIG=...` in a
# bench's folder does what `make <bench> ...` does at the top (variables given here are passed on).
include ../../scripts/dev/given.mk
BENCH := $(notdir $(CURDIR))

.PHONY: run waves
run:
	@$(MAKE) --no-print-directory -C ../.. $(BENCH)
waves:
	@$(MAKE) --no-print-directory -C ../.. waves BENCH=$(BENCH)
