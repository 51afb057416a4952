// Disassembly phase of a compound body, paper 000 (45), on float units linked from outside:
//
//   T_1^B = -T_2^A = D (W^B T_2^C - W^A T_1^C + beta_hat)
//
// Impulses are 2-vectors (T = D s). Mirrors pymodel.algorithms.two_handles.disassemble operation
// by operation.
//
// A `start_i` pulse begins; operands must be held while `busy_o`. `done_o` pulses in the last
// cycle of `busy_o`; the result and `flags_o` (of this run) are valid after it and hold.
//
// Latency: 3 ADD + MUL + 1 busy cycles, in units' STAGES. Throughput: one disassembly every
// latency + 1 cycles, as a start in the last busy cycle does nothing.

module hdca_disassembly
  import hdca_pkg::*;
#(
  parameter int W = 32,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  output logic busy_o,
  output logic done_o,

  input  logic [WEIGHT_WORDS*W-1:0]  weight_a_i,
  input  logic [WEIGHT_WORDS*W-1:0]  weight_b_i,
  input  logic [IMPULSE_WORDS*W-1:0] beta_hat_i,
  input  logic [IMPULSE_WORDS*W-1:0] t_1c_i,
  input  logic [IMPULSE_WORDS*W-1:0] t_2c_i,
  output logic [IMPULSE_WORDS*W-1:0] t_1b_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o,

  output logic [DISASSEMBLE_MUL*W-1:0] mul_a_o,
  output logic [DISASSEMBLE_MUL*W-1:0] mul_b_o,
  input  logic [DISASSEMBLE_MUL*W-1:0] mul_y_i,
  input  logic [fp_pkg::FLAGS_W-1:0]   mul_flags_i,
  output logic [DISASSEMBLE_ADD*W-1:0] add_a_o,
  output logic [DISASSEMBLE_ADD*W-1:0] add_b_o,
  input  logic [DISASSEMBLE_ADD*W-1:0] add_y_i,
  input  logic [fp_pkg::FLAGS_W-1:0]   add_flags_i
);

  localparam int LATENCY = 3 * ADD_STAGES + MUL_STAGES;
  localparam int COUNT_W = $clog2(LATENCY + 1) + 1;

  // Columns 0 and 1 of the weights; the third meets the third component of an impulse, zero
  logic [IMPULSE_WORDS*W-1:0] a_column_0, a_column_1, b_column_0, b_column_1;
  assign a_column_0 = {weight_a_i[3*W+:W], weight_a_i[0*W+:W]};
  assign a_column_1 = {weight_a_i[4*W+:W], weight_a_i[1*W+:W]};
  assign b_column_0 = {weight_b_i[3*W+:W], weight_b_i[0*W+:W]};
  assign b_column_1 = {weight_b_i[4*W+:W], weight_b_i[1*W+:W]};
  logic unused;
  assign unused = &{1'b0, weight_a_i, weight_b_i};

  // W^B T_2^C
  logic [4*W-1:0] b_mul_a, b_mul_b, b_mul_y, a_mul_a, a_mul_b, a_mul_y, a_add_a, a_add_b, a_add_y;
  logic [IMPULSE_WORDS*W-1:0] b_add_a, b_add_b, b_add_y, from_b, difference, t_1b;
  linked_dot #(
    .W(W),
    .N(IMPULSE_WORDS)
  ) u_from_b (
    .a_0_i(b_column_0),
    .b_0_i({2{t_2c_i[0*W+:W]}}),
    .a_1_i(b_column_1),
    .b_1_i({2{t_2c_i[1*W+:W]}}),
    .addend_i({IMPULSE_WORDS * W{1'b0}}),
    .y_o(from_b),
    .mul_a_o(b_mul_a),
    .mul_b_o(b_mul_b),
    .mul_y_i(b_mul_y),
    .add_a_o(b_add_a),
    .add_b_o(b_add_b),
    .add_y_i(b_add_y)
  );

  // W^B T_2^C - W^A T_1^C
  linked_dot #(
    .W(W),
    .N(IMPULSE_WORDS),
    .ADDEND(1),
    .NEGATE(1)
  ) u_difference (
    .a_0_i(a_column_0),
    .b_0_i({2{t_1c_i[0*W+:W]}}),
    .a_1_i(a_column_1),
    .b_1_i({2{t_1c_i[1*W+:W]}}),
    .addend_i(from_b),
    .y_o(difference),
    .mul_a_o(a_mul_a),
    .mul_b_o(a_mul_b),
    .mul_y_i(a_mul_y),
    .add_a_o(a_add_a),
    .add_b_o(a_add_b),
    .add_y_i(a_add_y)
  );

  // Units; idle ones see zeros. The last two adders add beta_hat.
  logic busy_q;
  assign mul_a_o = busy_q ? {a_mul_a, b_mul_a} : '0;
  assign mul_b_o = busy_q ? {a_mul_b, b_mul_b} : '0;
  assign {a_mul_y, b_mul_y} = mul_y_i;
  assign add_a_o = busy_q ? {difference, a_add_a, b_add_a} : '0;
  assign add_b_o = busy_q ? {beta_hat_i, a_add_b, b_add_b} : '0;
  assign {t_1b, a_add_y, b_add_y} = add_y_i;

  // Sequence and result
  logic [COUNT_W-1:0] count_q;
  assign busy_o = busy_q;
  assign done_o = busy_q && count_q == COUNT_W'(LATENCY);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      count_q <= '0;
      t_1b_o <= '0;
      flags_o <= '0;
    end else begin
      busy_q <= busy_q ? !done_o : start_i;
      count_q <= busy_q && !done_o ? count_q + 1'b1 : '0;
      if (done_o) begin
        t_1b_o <= t_1b;
        flags_o <= mul_flags_i | add_flags_i;
      end
    end
  end

endmodule
