// One copy of what axil_held holds: registers in a module of their own, which synthesis is to keep.
//
// Latency: 1 cycle. Throughput: 1 a cycle.

(* keep_hierarchy *)
module axil_copy #(
  parameter int W = 1
) (
  input  logic         clk_i,
  input  logic [W-1:0] data_i,
  output logic [W-1:0] data_o
);

  if (W < 1) begin : gen_check_w
    initial $fatal(1, "%m: W must be at least 1, got %0d", W);
  end

  logic [W-1:0] data_q;
  assign data_o = data_q;

  always_ff @(posedge clk_i) begin
    data_q <= data_i;
  end

endmodule
