// Float reciprocal, correctly rounded, one quotient bit a clock: y = 1 / a. Rules and flags:
// fp_pkg.sv.
//
// One row of fp_recip_array and shift registers. valid_i and ready_o hand an operand over, valid_o
// and ready_i a result, which stays until it is taken.
//
// Latency: MAN_W + 3 clocks. Throughput: one operation in MAN_W + 4 clocks, if results are taken at
// once.

module fp_recip_iterative #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [EXP_W+MAN_W:0]       a_i,
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  fp_check #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_check ();

  // As in fp_recip_array.
  localparam int REMAINDER_W = MAN_W + 2;
  // A mark that comes out on top when all is done, the leading 1, the mantissa and the guard bit.
  localparam int QUOTIENT_W = MAN_W + 3;

  // ---------------------------------------------------------------------------------------------
  // Handshakes
  // ---------------------------------------------------------------------------------------------
  logic busy_q, accept, done;

  assign ready_o = !busy_q;
  assign valid_o = busy_q && done;
  assign accept = valid_i && !busy_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else begin
      busy_q <= busy_q ? !(done && ready_i) : valid_i;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Operand
  // ---------------------------------------------------------------------------------------------
  typedef struct packed {
    logic                       sign;
    logic [EXP_W-1:0]           exponent;
    logic                       finite;
    logic                       nan;
    logic [fp_pkg::FLAGS_W-1:0] flags;
  } class_t;

  class_t operand, operand_q;
  logic [MAN_W-1:0] fraction_q;

  fp_recip_operand #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_operand (
    .clk_i,
    .enable_i(1'b1),
    .a_i,
    .sign_o(operand.sign),
    .exponent_o(operand.exponent),
    .finite_o(operand.finite),
    .nan_o(operand.nan),
    .flags_o(operand.flags)
  );

  always_ff @(posedge clk_i) begin
    if (accept) begin
      operand_q <= operand;
      fraction_q <= a_i[MAN_W-1:0];
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Divide: the first remainder, 1.0, makes the leading quotient bit a 1. Without a finite result
  // the mantissa is zero.
  // ---------------------------------------------------------------------------------------------
  logic [REMAINDER_W-1:0] divisor, remainder_d, remainder_q;
  logic [QUOTIENT_W-1:0] quotient_q;
  logic subtract;

  assign divisor = {2'b01, fraction_q};
  assign subtract = !remainder_q[REMAINDER_W-1];
  // The doubled remainder's free lowest bit takes the carry in of the subtraction.
  assign remainder_d = {remainder_q[REMAINDER_W-2:0], subtract}
                       + (divisor ^ {REMAINDER_W{subtract}});
  assign done = quotient_q[QUOTIENT_W-1];

  always_ff @(posedge clk_i) begin
    if (accept) begin
      remainder_q <= {2'b01, {MAN_W{1'b0}}};
      quotient_q <= {{(QUOTIENT_W - 1) {1'b0}}, 1'b1};
    end else begin
      remainder_q <= remainder_d;
      if (!done) begin
        quotient_q <= {quotient_q[QUOTIENT_W-2:0],
                       !remainder_d[REMAINDER_W-1] && operand_q.finite};
      end
    end
  end

  fp_recip_pack #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_pack (
    .sign_i(operand_q.sign),
    .exponent_i(operand_q.exponent),
    .finite_i(1'b1),
    .nan_i(operand_q.nan),
    .mantissa_i(quotient_q[MAN_W:1]),
    .round_up_i(quotient_q[0]),
    .y_o
  );

  assign flags_o = operand_q.flags;

endmodule
