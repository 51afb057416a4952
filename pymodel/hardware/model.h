// What the sources of every model, and cocotb's main program, include: compiled ahead by model.mk.

#include <libgen.h>
#include <stdio.h>

#include <memory>
#include <string>

#include "verilated.h"
#include "verilated_dpi.h"
#include "verilated_vpi.h"
