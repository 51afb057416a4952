// One optional register stage of a reciprocal pipeline that can be held, without reset.
//
// Latency: 1 clock with enable_i if ENABLE, else 0. Throughput: one word a clock.

module fp_recip_cut #(
  parameter int WIDTH = 1,
  parameter bit ENABLE = 1'b1
) (
  input  logic             clk_i,
  input  logic             enable_i,
  input  logic [WIDTH-1:0] data_i,
  output logic [WIDTH-1:0] data_o
);

  if (ENABLE) begin : gen_register
    logic [WIDTH-1:0] data_q;
    always_ff @(posedge clk_i) if (enable_i) data_q <= data_i;
    assign data_o = data_q;
  end else begin : gen_wire
    assign data_o = data_i;
  end

endmodule
