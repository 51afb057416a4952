// Both rows of fp_product add up to the product of the factors CUTS clocks ago.
//
// Registers start with any content, and factors are free in every step. So the first product that
// can be due stands for all, and CUTS + 1 steps of bounded checking are complete.

module fp_product_formal #(
  parameter int MULTIPLIER_W = 6,
  parameter int MULTIPLICAND_W = 5,
  parameter int CUTS = 0
) (
  input logic                      clk_i,
  input logic [MULTIPLIER_W-1:0]   multiplier_i,
  input logic [MULTIPLICAND_W-1:0] multiplicand_i
);

  localparam int W = MULTIPLIER_W + MULTIPLICAND_W;

  logic [2:0] age_q = '0;
  logic [W-1:0] factors, factors_q, low, high;
  logic signed [W-1:0] multiplier, multiplicand, expected;
  logic due;

  always_ff @(posedge clk_i) begin
    age_q <= age_q == '1 ? age_q : age_q + 1'b1;
    if (age_q == '0) begin
      factors_q <= {multiplier_i, multiplicand_i};
    end
  end

  assign factors = age_q == '0 ? {multiplier_i, multiplicand_i} : factors_q;
  assign due = age_q == 3'(CUTS);
  assign multiplier = {{MULTIPLICAND_W{1'b0}}, factors[W-1:MULTIPLICAND_W]};
  assign multiplicand = {{MULTIPLIER_W{factors[MULTIPLICAND_W-1]}}, factors[MULTIPLICAND_W-1:0]};
  assign expected = multiplier * multiplicand;

  fp_product #(
    .MULTIPLIER_W(MULTIPLIER_W),
    .MULTIPLICAND_W(MULTIPLICAND_W),
    .CUTS(CUTS)
  ) u_dut (
    .clk_i, .multiplier_i, .multiplicand_i, .low_o(low), .high_o(high)
  );

  always_comb begin
    if (due) begin
      product: assert (low + high == expected);
    end
  end

endmodule
