// Float reciprocal, correctly rounded: y = 1 / a. Rules and flags: fp_pkg.sv.
//
// METHOD chooses how the significand is divided: fp_recip_array (no multipliers, any format) or
// fp_recip_table (multipliers, a far better clock, formats up to binary32's significand).
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock.

module fp_recip #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0,
  parameter int METHOD = fp_pkg::RECIP_ARRAY,
  parameter int DSP_W = fp_pkg::DSP_W
) (
  input  logic                       clk_i,
  input  logic [EXP_W+MAN_W:0]       a_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  fp_recip_pipeline #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(STAGES),
    .METHOD(METHOD),
    .DSP_W(DSP_W)
  ) u_pipeline (
    .clk_i, .enable_i(1'b1), .a_i, .y_o, .flags_o
  );

endmodule
