// Trace of the step engine: a FIFO (block RAM) that the engine fills and software empties, at any
// time. `data_o` is the oldest word, there while `count_o` is not 0; a word counts from two cycles
// after its push on. A push while full or a pop while empty does nothing.
//
// Latency: 2 cycles from push to `data_o`. Throughput: one push and one pop a cycle.
module step_trace #(
    parameter int W = 32,
    parameter int DEPTH = 512,
    localparam int COUNT_W = $clog2(DEPTH) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic push_i,
    input  logic [W-1:0] data_i,
    output logic full_o,

    input  logic pop_i,
    output logic [W-1:0] data_o,
    output logic [COUNT_W-1:0] count_o
);

  localparam int INDEX_W = COUNT_W - 1;

  if (DEPTH < 2 || DEPTH != 1 << INDEX_W) begin : g_check
    initial $fatal(1, "step_trace: DEPTH %0d must be a power of two from 2 on", DEPTH);
  end

  // Pointers have one bit more than an index: full and empty differ. The memory is always read at
  // the oldest word of the next cycle, so that a word written now is seen one cycle late.
  logic [W-1:0] memory_q[DEPTH];
  logic [W-1:0] data_q;
  logic [COUNT_W-1:0] write_q, written_q, read_q, read_d;
  logic push;

  assign full_o = write_q == (read_q ^ {1'b1, {INDEX_W{1'b0}}});
  assign push = push_i && !full_o;
  assign count_o = written_q - read_q;
  assign read_d = read_q + COUNT_W'(pop_i && count_o != '0);
  assign data_o = data_q;

  always_ff @(posedge clk_i) begin
    if (push) memory_q[write_q[INDEX_W-1:0]] <= data_i;
    data_q <= memory_q[read_d[INDEX_W-1:0]];
    if (!rst_ni) begin
      write_q <= '0;
      written_q <= '0;
      read_q <= '0;
    end else begin
      write_q <= write_q + COUNT_W'(push);
      written_q <= write_q;
      read_q <= read_d;
    end
  end

endmodule
