# Generated from rtl/rtl.f by `make manifests`; do not edit.
# Synthesis of a top out of context, for the xc7z020 unless PART says otherwise, in any folder:
#
#   vivado -mode batch -source <repository>/rtl/vivado.tcl -tclargs step_engine ?NAME=VALUE ...?
#
# Parameters of the top are NAME=VALUE. Leaves <top>.dcp, <top>_utilization.rpt and
# <top>_timing.rpt in the current folder. The clock is that of out_of_context.xdc, 100 MHz.

set here [file dirname [file normalize [info script]]]
set part xc7z020clg400-1
if {[info exists env(PART)]} {
  set part $env(PART)
}
if {$argc < 1} {
  error "say a top: -tclargs step_engine ?NAME=VALUE ...?"
}
set top [lindex $argv 0]
set options {}
foreach parameter [lrange $argv 1 end] {
  if {![regexp {^[A-Z]\w*=\d+$} $parameter]} {
    error "$parameter: not of the form NAME=VALUE"
  }
  lappend options -generic $parameter
}

set sources {
  fp/fp_pkg.sv
  fp/fp_check.sv
  fp/fp_pipe.sv
  fp/fp_round.sv
  fp/fp_add.sv
  fp/fp_mul.sv
  fp/fp_rows.sv
  fp/fp_product.sv
  fp/fp_recip_operand.sv
  fp/fp_recip_pack.sv
  fp/fp_recip_array.sv
  fp/fp_recip_table.sv
  fp/fp_recip_pipeline.sv
  fp/fp_recip.sv
  fp/fp_recip_iterative.sv
  fp/fp_recip_stream.sv
  fp/fp_sincos_pkg.sv
  fp/fp_sincos.sv
  fp/fp_units.sv
  linalg/linked_dot.sv
  linalg/inv_adjugate_2x2.sv
  linalg/ldup_pkg.sv
  linalg/inv_ldup_parallel.sv
  linalg/inv_ldup_serial.sv
  linalg/ldup_engine.sv
  hdca/hdca_pkg.sv
  hdca/hdca_assembly.sv
  hdca/hdca_disassembly.sv
  hdca/hdca_engine.sv
  top/coprocessor_regs_pkg.sv
  axil/address_pkg.sv
  axil/axil_copy.sv
  axil/axil_held.sv
  axil/axil_slave.sv
  axil/axil_split.sv
  axil/coprocessor_control.sv
  top/hdca_coprocessor_regs_pkg.sv
  top/hdca_coprocessor_regs.sv
  top/hdca_coprocessor.sv
  top/ldup_coprocessor_regs_pkg.sv
  top/ldup_coprocessor_regs.sv
  top/ldup_coprocessor.sv
  step/step_pkg.sv
  step/step_delay.sv
  step/step_bank.sv
  step/step_datapath.sv
  step/step_rare.sv
  step/step_program.sv
  step/step_trace.sv
  step/step_sequencer.sv
  array/array_pkg.sv
  array/array_memory.sv
  array/array_collect.sv
  array/array_datapath.sv
  array/array_core.sv
  array/array_program.sv
  array/array_sequencer.sv
  array/array_loader.sv
  array/array_drain.sv
  top/step_engine_regs_pkg.sv
  top/step_engine_regs.sv
  top/step_engine.sv
  top/step_array_regs_pkg.sv
  top/step_array_regs.sv
  top/step_array.sv
  board/link_pkg.sv
  board/uart_rx.sv
  board/uart_tx.sv
  board/link_decode.sv
  board/link_encode.sv
  board/link_memory.sv
  board/link_master.sv
  board/uart_axil.sv
  board/board_engine.sv
  board/stream_axil.sv
  board/board_array.sv
}
create_project -in_memory -part $part
foreach source $sources {
  read_verilog -sv [file join $here $source]
}
read_xdc -mode out_of_context [file join $here out_of_context.xdc]
synth_design -top $top -part $part -mode out_of_context {*}$options
write_checkpoint -force $top.dcp
report_utilization -file ${top}_utilization.rpt
report_timing_summary -file ${top}_timing.rpt
