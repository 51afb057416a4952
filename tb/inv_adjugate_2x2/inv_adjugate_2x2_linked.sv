// Bench wrapper: inv_adjugate_2x2 linked to float units of its own.
// Latency: 2 MUL_STAGES + ADD_STAGES + REC_STAGES, operands held. Throughput: one a latency.

module inv_adjugate_2x2_linked #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int ENTRIES = 4
) (
  input  logic                       clk_i,
  input  logic [ENTRIES*W-1:0]       a_i,
  output logic [ENTRIES*W-1:0]       y_o,
  output logic                       singular_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int NUM_MUL = 2 + ENTRIES;

  logic [NUM_MUL*W-1:0] mul_a, mul_b, mul_y;
  logic [W-1:0] add_a, add_b, add_y, rec_a, rec_y;
  logic [fp_pkg::FLAGS_W-1:0] mul_flags, add_flags, rec_flags;

  inv_adjugate_2x2 #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W)
  ) u_dut (
    .a_i,
    .y_o,
    .singular_o,
    .mul_a_o(mul_a),
    .mul_b_o(mul_b),
    .mul_y_i(mul_y),
    .add_a_o(add_a),
    .add_b_o(add_b),
    .add_y_i(add_y),
    .rec_a_o(rec_a),
    .rec_y_i(rec_y)
  );

  fp_units #(
    .UNIT(fp_pkg::UNIT_MUL),
    .N(NUM_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(MUL_STAGES)
  ) u_mul (
    .clk_i,
    .a_i(mul_a),
    .b_i(mul_b),
    .y_o(mul_y),
    .flags_o(mul_flags)
  );

  fp_add #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(ADD_STAGES)
  ) u_add (
    .clk_i,
    .a_i(add_a),
    .b_i(add_b),
    .y_o(add_y),
    .flags_o(add_flags)
  );

  fp_recip #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(REC_STAGES)
  ) u_rec (
    .clk_i,
    .a_i(rec_a),
    .y_o(rec_y),
    .flags_o(rec_flags)
  );

  assign flags_o = mul_flags | add_flags | rec_flags;

endmodule
