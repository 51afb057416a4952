// Bits that outlive the flip of any one register: three copies hold each, and two of them decide
// what it is. All are written anew in every cycle, so that a flip is gone after one.
//
// No tool may make one of the three. They differ: one has the bits, one their inverse, and one in
// turn either, so that a flow that compares what registers are given keeps them. A flow that finds
// registers that agree in every reachable state (retiming, `-dff` of Yosys) would not: each copy is
// a module that is kept (axil_copy), if what reads the RTL keeps modules (docs/faults.md).
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

  logic turn_d, turn_q;
  logic [W-1:0] plain_q, inverse_q, turned_q, inverse, turned;
  assign turn_d = rst_ni && !turn_q;

  (* keep *)
  axil_copy #(
    .W(W)
  ) u_plain (
    .clk_i,
    .data_i,
    .data_o(plain_q)
  );

  (* keep *)
  axil_copy #(
    .W(W)
  ) u_inverse (
    .clk_i,
    .data_i(~data_i),
    .data_o(inverse_q)
  );

  (* keep *)
  axil_copy #(
    .W(W + 1)
  ) u_turned (
    .clk_i,
    .data_i({turn_d, data_i ^ {W{turn_d}}}),
    .data_o({turn_q, turned_q})
  );

  assign inverse = ~inverse_q;
  assign turned = turned_q ^ {W{turn_q}};
  assign data_o = (plain_q & inverse) | (plain_q & turned) | (inverse & turned);

endmodule
