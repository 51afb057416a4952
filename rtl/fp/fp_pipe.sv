// One optional register stage of a datapath, without reset. It takes a word with enable_i, and else
// keeps the one it has; a pipeline that never holds ties enable_i to 1'b1.
//
// Latency: 1 clock with enable_i if ENABLE, otherwise 0. Throughput: one word a clock.

module fp_pipe #(
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
    always_ff @(posedge clk_i) begin
      data_q <= enable_i ? data_i : data_q;
    end
    assign data_o = data_q;
  end else begin : gen_wire
    assign data_o = data_i;
  end

endmodule
