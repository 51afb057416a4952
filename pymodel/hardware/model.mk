# Less time for the compiler; what `make` reads after Verilator's own rules for a model.
#
# Of a small model most of it is spent on headers: those of Verilator are compiled ahead, once for
# all models with the same options, and cocotb's main program is compiled together with the model.
# Of a large one most is spent on functions that it has many times: they are compiled once.
# Give it VK_USER_OBJS= (nothing else to compile), and HEADERS, the folder for compiled headers.

THIS := $(dir $(lastword $(MAKEFILE_LIST)))
VERILATOR_INCLUDER = $(PYTHON3) $(THIS)once.py
$(VM_PREFIX)__ALL.cpp: verilator.cpp $(THIS)once.py

COMPILE = $(CXX) $(OPT_FAST) $(CXXFLAGS) $(CPPFLAGS)
KEY := $(firstword $(shell (echo '$(COMPILE)'; $(CXX) --version; \
  cat $(THIS)model.h $(VERILATOR_ROOT)/include/verilated*.h) | cksum))
AHEAD := $(HEADERS)/$(KEY)/model.h

# Others may do the same at this moment.
$(AHEAD).gch:
	mkdir -p $(@D)
	cp $(THIS)model.h $(AHEAD).$$$$ && mv $(AHEAD).$$$$ $(AHEAD)
	$(COMPILE) -x c++-header $(AHEAD) -o $@.$$$$ && mv $@.$$$$ $@

$(VM_PREFIX)__ALL.o: $(AHEAD).gch
$(VM_PREFIX)__ALL.o: CPPFLAGS += -include $(AHEAD)
