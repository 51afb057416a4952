// A product as the sum of two rows, each from multipliers of the device: a * b = low + high, modulo
// 2^(A_W + B_W). Factor a is cut where it is wider than DSP_W, else `high_o` is zero; a register
// can stand between the multipliers and the adder.
//
// Latency: 0. Throughput: one product a clock.

module fp_rows #(
  parameter int A_W = 24,
  parameter int B_W = 17,
  parameter bit SIGNED = 1'b0,  // factor b, which takes one bit of a multiplier's wide factor
  parameter int DSP_W = fp_pkg::DSP_W,
  localparam int W = A_W + B_W
) (
  input  logic [A_W-1:0] a_i,
  input  logic [B_W-1:0] b_i,
  output logic [W-1:0]   low_o,
  output logic [W-1:0]   high_o
);

  localparam int WIDE_W = SIGNED ? DSP_W - 1 : DSP_W;
  localparam int LOW_W = A_W > WIDE_W ? WIDE_W : A_W;

  //            W-1                 LOW_W                 0
  //           +---------------------+--------------------+
  //   low_o   |       sign    |       low a * b          |
  //   high_o  |      high a * b     |          0         |
  //           +---------------------+--------------------+
  logic signed [LOW_W+B_W-1:0] low_a, low_b, low;
  assign low_a = {{B_W{1'b0}}, a_i[LOW_W-1:0]};
  assign low_b = {{LOW_W{SIGNED && b_i[B_W-1]}}, b_i};
  assign low = low_a * low_b;

  if (A_W > LOW_W) begin : gen_two
    localparam int HIGH_W = A_W - LOW_W;
    logic signed [HIGH_W+B_W-1:0] high_a, high_b, high;
    assign high_a = {{B_W{1'b0}}, a_i[A_W-1:LOW_W]};
    assign high_b = {{HIGH_W{SIGNED && b_i[B_W-1]}}, b_i};
    assign high = high_a * high_b;
    assign low_o = {{HIGH_W{SIGNED && low[LOW_W+B_W-1]}}, low};
    assign high_o = {high, {LOW_W{1'b0}}};
  end else begin : gen_one
    assign low_o = low;
    assign high_o = '0;
  end

endmodule
