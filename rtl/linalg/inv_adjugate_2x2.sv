// Inverse of a 2x2 matrix by its adjugate, paper 000 (53), on float units linked from outside.
//
//   y = adj(a) / det(a)        det = a00 a11 - a01 a10
//
// Matrices are flat vectors, entry (i, j) at word 2 i + j. `singular_o` says that the determinant
// is zero or not finite, or that an entry of the inverse is not finite.
//
// Resources: 6 multipliers, 1 adder, 1 reciprocal (operands out, results in).
// Latency: 2 MUL + 1 ADD + 1 REC of the units' latencies, during which the operands are held.
// Throughput: one matrix a latency.

module inv_adjugate_2x2 #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int ENTRIES = 4,
  localparam int NUM_MUL = 2 + ENTRIES
) (
  input  logic [ENTRIES*W-1:0] a_i,
  output logic [ENTRIES*W-1:0] y_o,
  output logic                 singular_o,

  output logic [NUM_MUL*W-1:0] mul_a_o,
  output logic [NUM_MUL*W-1:0] mul_b_o,
  input  logic [NUM_MUL*W-1:0] mul_y_i,
  output logic [W-1:0]         add_a_o,
  output logic [W-1:0]         add_b_o,
  input  logic [W-1:0]         add_y_i,
  output logic [W-1:0]         rec_a_o,
  input  logic [W-1:0]         rec_y_i
);

  localparam logic [W-1:0] SIGN = {1'b1, {(W - 1) {1'b0}}};

  logic [W-1:0] a00, a01, a10, a11, diagonal, antidiagonal, determinant;
  assign {a11, a10, a01, a00} = a_i;

  // multipliers: two for the determinant, then those of adj(a) / det(a)
  assign mul_a_o = {a00, a10 ^ SIGN, a01 ^ SIGN, a11, a01, a00};
  assign mul_b_o = {{ENTRIES{rec_y_i}}, a10, a11};
  assign {y_o, antidiagonal, diagonal} = mul_y_i;

  assign add_a_o = diagonal;
  assign add_b_o = antidiagonal ^ SIGN;
  assign determinant = add_y_i;
  assign rec_a_o = determinant;

  // status
  logic [ENTRIES-1:0] not_finite;
  for (genvar e = 0; e < ENTRIES; e++) begin : gen_entry
    assign not_finite[e] = &y_o[W*e+MAN_W+:EXP_W];
  end
  assign singular_o = (determinant[MAN_W+:EXP_W] == '0) | (&determinant[MAN_W+:EXP_W])
                    | (|not_finite);

endmodule
