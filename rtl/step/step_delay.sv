// A word some cycles later, 0 = at once. Without reset.
//
// Latency: CYCLES. Throughput: one word a cycle.

module step_delay #(
  parameter int WIDTH = 1,
  parameter int CYCLES = 1
) (
  input  logic             clk_i,
  input  logic [WIDTH-1:0] data_i,
  output logic [WIDTH-1:0] data_o
);

  if (CYCLES < 0) begin : gen_check
    initial $fatal(1, "%m: CYCLES %0d must be at least 0", CYCLES);
  end

  if (CYCLES == 0) begin : gen_wire
    logic unused;
    assign unused = clk_i;
    assign data_o = data_i;
  end else begin : gen_registers
    localparam int REGISTERS_W = CYCLES * WIDTH;
    logic [REGISTERS_W-1:0] words_q;  // the oldest on top
    always_ff @(posedge clk_i) begin
      words_q <= REGISTERS_W'({words_q, data_i});
    end
    assign data_o = words_q[REGISTERS_W-1-:WIDTH];
  end

endmodule
