// N sums of two products, on float units linked from outside, optionally added to or subtracted
// from a vector:
//
//   y[e] = addend[e] +- (a_0[e] b_0[e] + a_1[e] b_1[e])      ADDEND = 1    +: NEGATE = 0
//   y[e] =           +- (a_0[e] b_0[e] + a_1[e] b_1[e])      ADDEND = 0    -: NEGATE = 1
//
// Every matrix product of the planar HDCA is this, as its inner dimension is 2. Element 0 stands
// in the lowest word of each port.
//
// Resources (operands out, results in): 2 N multipliers, first those of a_0 b_0; N adders for the
// sums, then N more with ADDEND.
// Latency: MUL + (1 + ADDEND) ADD of the units' latencies, during which the operands are held.
// Throughput: one result a latency.

module linked_dot #(
  parameter int W = 32,
  parameter int N = 1,
  parameter bit ADDEND = 0,
  parameter bit NEGATE = 0,
  localparam int NUM_MUL = 2 * N,
  localparam int NUM_ADD = ADDEND ? 2 * N : N
) (
  input  logic [N*W-1:0] a_0_i,
  input  logic [N*W-1:0] b_0_i,
  input  logic [N*W-1:0] a_1_i,
  input  logic [N*W-1:0] b_1_i,
  input  logic [N*W-1:0] addend_i,
  output logic [N*W-1:0] y_o,

  output logic [NUM_MUL*W-1:0] mul_a_o,
  output logic [NUM_MUL*W-1:0] mul_b_o,
  input  logic [NUM_MUL*W-1:0] mul_y_i,
  output logic [NUM_ADD*W-1:0] add_a_o,
  output logic [NUM_ADD*W-1:0] add_b_o,
  input  logic [NUM_ADD*W-1:0] add_y_i
);

  // Sign bits of all elements
  localparam logic [N*W-1:0] SIGNS = {N{1'b1, {(W - 1) {1'b0}}}};

  logic [N*W-1:0] product_0, product_1, sum;
  assign mul_a_o = {a_1_i, a_0_i};
  assign mul_b_o = {b_1_i, b_0_i};
  assign {product_1, product_0} = mul_y_i;

  if (NEGATE) begin : gen_negated
    assign sum = add_y_i[0+:N*W] ^ SIGNS;
  end else begin : gen_plain
    assign sum = add_y_i[0+:N*W];
  end

  if (ADDEND) begin : gen_addend
    assign add_a_o = {addend_i, product_0};
    assign add_b_o = {sum, product_1};
    assign y_o = add_y_i[N*W+:N*W];
  end else begin : gen_no_addend
    logic unused;
    assign unused = &{1'b0, addend_i};
    assign add_a_o = product_0;
    assign add_b_o = product_1;
    assign y_o = sum;
  end

endmodule
