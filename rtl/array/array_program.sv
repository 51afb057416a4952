// Program memory of the step array (block RAM), with a register behind it: `fetch_i` reads a word,
// `load_i` moves it to `word_o`. While the array runs nothing is stored.
//
// Latency: 2 cycles from `pc_i` to `word_o`. Throughput: one word a cycle.

module array_program #(
  parameter int WORD_W = 256,
  parameter int DEPTH = 1024,
  localparam int PC_W = step_pkg::index_w(DEPTH)
) (
  input  logic clk_i,

  input  logic              store_i,
  input  logic [PC_W-1:0]   store_pc_i,
  input  logic [WORD_W-1:0] store_word_i,

  input  logic              fetch_i,
  input  logic [PC_W-1:0]   pc_i,
  input  logic              load_i,
  output logic [WORD_W-1:0] word_o
);

  if (DEPTH < 2) begin : gen_check
    initial $fatal(1, "%m: DEPTH %0d must be at least 2", DEPTH);
  end

  // Never stored to during a run
  (* no_rw_check *) logic [WORD_W-1:0] memory_q[step_pkg::places(DEPTH)];
  logic [WORD_W-1:0] fetched_q, word_q;

  always_ff @(posedge clk_i) begin
    if (store_i) begin
      memory_q[store_pc_i] <= store_word_i;
    end
    if (fetch_i) begin
      fetched_q <= memory_q[pc_i];
    end
    if (load_i) begin
      word_q <= fetched_q;
    end
  end

  assign word_o = word_q;

endmodule
