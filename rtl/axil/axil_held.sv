// Bits that outlive the flip of any one register: three registers hold each, and two of them decide
// what it is. All are written anew in every cycle, so that a flip is gone after one.
//
// The three differ, so that no tool makes one of them: one is the bit, one its inverse, and one in
// turn either.
//
// Latency: 1 cycle. Throughput: 1 a cycle.

module axil_held #(
  parameter int W = 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [W-1:0] data_i,
  output logic [W-1:0] data_o
);

  if (W < 1) begin : gen_check_w
    initial $fatal(1, "%m: W must be at least 1, got %0d", W);
  end

  logic turn_q;
  logic [W-1:0] plain_q, inverse_q, turned_q, inverse, turned;
  assign inverse = ~inverse_q;
  assign turned = turned_q ^ {W{turn_q}};
  assign data_o = (plain_q & inverse) | (plain_q & turned) | (inverse & turned);

  always_ff @(posedge clk_i) begin
    plain_q <= data_i;
    inverse_q <= ~data_i;
    if (!rst_ni) begin
      turn_q <= 1'b0;
      turned_q <= data_i;
    end else begin
      turn_q <= !turn_q;
      turned_q <= data_i ^ {W{!turn_q}};
    end
  end

endmodule
