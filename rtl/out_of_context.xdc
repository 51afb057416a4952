# The clock of a top that is synthesised alone (vivado.tcl): 100 MHz.
create_clock -name clk_i -period 10.000 [get_ports clk_i]
