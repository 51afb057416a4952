#!/bin/sh
# FuseSoC 2.4.7: with the flow API `tool_verilator?` is never true.
#
# One would have guessed: a fileset that is asked for with "tool_verilator? (waivers)", as cores do,
# comes whenever Verilator is the tool. It does with `default_tool: verilator` (tool API); with
# `flow: lint` and `flow_options: {tool: verilator}` (flow API) it is left out without a word.
#
# It matters to our users: waivers of a core that they depend on would be missing when they lint
# their own. So hdca.core has rtl/lint.vlt in its default target, without a condition.
#
# Source: https://github.com/olofk/fusesoc/pull/799 (open), which sets the flag
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install fusesoc==2.4.7 edalize==0.6.8

echo 'module top; endmodule' >top.sv
printf '`verilator_config\n' >waivers.vlt
cat >part.core <<'CORE'
CAPI=2:
name: ::part:1.0
filesets:
  rtl: {files: [top.sv: {file_type: systemVerilogSource}]}
  waivers: {files: [waivers.vlt: {file_type: vlt}]}
targets:
  default: &default
    filesets: ["tool_verilator? (waivers)", rtl]
    toplevel: top
  tool_api:
    <<: *default
    default_tool: verilator
    tools: {verilator: {mode: lint-only}}
  flow_api:
    <<: *default
    flow: lint
    flow_options: {tool: verilator}
CORE

# The waivers among what Verilator is given: 1 or 0
given() {
  venv/bin/fusesoc --cores-root . run --setup --target="$1" part >log 2>&1 || { cat log; exit 1; }
  cat build/*/"$1"*/*.vc | grep -c 'waivers\.vlt' || true
}
tool=$(given tool_api)
flow=$(given flow_api)
echo "fusesoc 2.4.7, edalize 0.6.8; is the fileset of tool_verilator? given to Verilator"
echo "  tool API: $tool"
echo "  flow API: $flow"
[ "$tool" = 1 ] && [ "$flow" = 0 ]
