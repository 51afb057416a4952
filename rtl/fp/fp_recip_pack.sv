// Rounds a reciprocal's quotient up or not, and packs it with what fp_recip_operand found.
//
// Latency: 0. Throughput: one result a clock.

module fp_recip_pack #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23
) (
  input  logic                 sign_i,
  input  logic [EXP_W-1:0]     exponent_i,
  input  logic                 finite_i,
  input  logic                 nan_i,
  input  logic [MAN_W-1:0]     mantissa_i,
  input  logic                 round_up_i,
  output logic [EXP_W+MAN_W:0] y_o
);

  logic [MAN_W-1:0] mantissa;
  logic [EXP_W+MAN_W-1:0] magnitude;
  logic unused;

  assign mantissa = mantissa_i & {MAN_W{finite_i}} | {nan_i, {(MAN_W - 1) {1'b0}}};
  // The lowest bit turns the rounding into the adder's carry in.
  assign {magnitude, unused} = {exponent_i, mantissa, 1'b1}
                               + {{(EXP_W + MAN_W) {1'b0}}, round_up_i && finite_i};
  assign y_o = {sign_i, magnitude};

endmodule
