// Trace of the step engine: a FIFO (block RAM) that the engine fills and software empties, at any
// time. `data_o` is the oldest word if `count_o` is not 0, from two cycles after a pop on; a word
// counts from four cycles after its push on. A push while full does nothing; a pop while empty is
// not allowed. `data_i` is what a push DATA_STAGES cycles before pushes; what a push brings counts
// from its data on.
//
// Latency: 4 cycles from data to `data_o`. Throughput: one push a cycle, a pop every second one.

module step_trace #(
  parameter int W = 32,
  parameter int DEPTH = 512,
  parameter int DATA_STAGES = 0,
  localparam int COUNT_W = step_pkg::index_w(DEPTH) + 1
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic         push_i,
  input  logic [W-1:0] data_i,
  output logic         full_o,

  input  logic               pop_i,
  output logic [W-1:0]       data_o,
  output logic [COUNT_W-1:0] count_o
);

  localparam int INDEX_W = COUNT_W - 1;

  if (DEPTH < 2 || DEPTH != 1 << INDEX_W) begin : gen_check
    initial $fatal(1, "%m: DEPTH %0d must be a power of two, at least 2", DEPTH);
  end

  // Words on their way: registered, written, fetched, in data_q. The memory is always read at the
  // oldest word of the next cycle. Pointers have one bit more than an index: full and empty differ.
  localparam int DELAY = 3 + DATA_STAGES;

  // A word that is written does not count yet
  (* no_rw_check *) logic [W-1:0] memory_q[step_pkg::places(DEPTH)];
  logic [W-1:0] pushed_q, fetched_q, data_q;
  logic [INDEX_W-1:0] to_q;
  logic [COUNT_W-1:0] write_q, write_d, read_q, read_d;
  logic [DELAY*COUNT_W-1:0] written_q;  // write_q in the cycles before, the last one on top
  logic [INDEX_W-1:0] to;
  logic push, pushed, push_q, full_q;

  assign full_o = full_q;
  assign push = push_i && !full_q;
  assign write_d = write_q + COUNT_W'(push);
  assign count_o = written_q[(DELAY-1)*COUNT_W+:COUNT_W] - read_q;
  assign read_d = read_q + COUNT_W'(pop_i);
  assign data_o = data_q;

  step_delay #(
    .WIDTH(1 + INDEX_W),
    .CYCLES(DATA_STAGES)
  ) u_data (
    .clk_i,
    .data_i({push, write_q[INDEX_W-1:0]}),
    .data_o({pushed, to})
  );

  always_ff @(posedge clk_i) begin
    push_q <= pushed;
    pushed_q <= data_i;
    to_q <= to;
    if (push_q) begin
      memory_q[to_q] <= pushed_q;
    end
    fetched_q <= memory_q[read_d[INDEX_W-1:0]];
    data_q <= fetched_q;
    if (!rst_ni) begin
      full_q <= 1'b0;
      write_q <= '0;
      written_q <= '0;
      read_q <= '0;
    end else begin
      full_q <= write_d == (read_d ^ {1'b1, {INDEX_W{1'b0}}});
      write_q <= write_d;
      written_q <= {written_q[0+:(DELAY-1)*COUNT_W], write_q};
      read_q <= read_d;
    end
  end

endmodule
