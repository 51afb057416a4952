// Program memory of the step engine, and the word that is executed.
//
// The memory (block RAM) is read into its output register with `fetch_i`; with `load_i` the word
// register takes that word, or with `access_i` besides one that stores nothing and has the register
// `address_i` of every bank at the read port of side 0 and at the write port. So neither the
// program's addresses nor any other ones pass a multiplexer on their way to the register file.
//
// Latency: 2 cycles from `pc_i` to `word_o`. Throughput: one word a cycle.

module step_program #(
  parameter int NUM_ADD = 2,
  parameter int NUM_MUL = 2,
  parameter int DEPTH = 64,
  parameter int PROGRAM_DEPTH = 1024,
  parameter int CONTEXTS = 1,
  localparam int ADDRESS_W = step_pkg::index_w(DEPTH),
  localparam int PC_W = step_pkg::index_w(PROGRAM_DEPTH),
  localparam int WORD_W = step_pkg::word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS)
) (
  input  logic clk_i,

  input  logic              store_i,
  input  logic [PC_W-1:0]   store_pc_i,
  input  logic [WORD_W-1:0] store_word_i,

  input  logic                 fetch_i,
  input  logic [PC_W-1:0]      pc_i,
  input  logic                 load_i,
  input  logic                 access_i,
  input  logic [ADDRESS_W-1:0] address_i,
  output logic [WORD_W-1:0]    word_o
);

  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL);
  localparam int PORT_W = step_pkg::port_w(ADDRESS_W, CONTEXTS);

  if (PROGRAM_DEPTH < 2) begin : gen_check
    initial $fatal(1, "%m: PROGRAM_DEPTH %0d must be at least 2", PROGRAM_DEPTH);
  end

  // Never stored to during a run
  (* no_rw_check *) logic [WORD_W-1:0] memory_q[step_pkg::places(PROGRAM_DEPTH)];
  logic [WORD_W-1:0] fetched_q;
  // Its initial value keeps Yosys from moving the addresses in it into the banks, which would make
  // block RAM of them: 5.8 ns to their data on ECP5, where distributed RAM takes less than one.
  // verilator lint_off PROCASSINIT  // what is meant here
  logic [WORD_W-1:0] word_q = '0;
  // verilator lint_on PROCASSINIT

  // What an access leaves of a word: not the stores, and of each bank's read ports not that of
  // side 0.
  localparam int PORTS_W = step_pkg::SIDES * PORT_W;  // of a bank
  localparam int STORE_W = ADDRESS_W + 1;
  localparam logic [PORTS_W-1:0] OTHER_PORT = {PORTS_W{1'b1}} << PORT_W;
  localparam logic [BANKS*(STORE_W+PORTS_W)-1:0] TAKEN =
      {{(BANKS * STORE_W) {1'b1}}, {BANKS{~OTHER_PORT}}};
  localparam logic [WORD_W-1:0] LEFT = ~WORD_W'(TAKEN);

  // Equal parts beside each other, as Icarus is slow at loops.
  function automatic logic [WORD_W-1:0] accessing(
    input logic [WORD_W-1:0] word, input logic [ADDRESS_W-1:0] address
  );
    return (word & LEFT) | WORD_W'({{BANKS{STORE_W'(address)}}, {BANKS{PORTS_W'(address)}}});
  endfunction

  always_ff @(posedge clk_i) begin
    if (store_i) begin
      memory_q[store_pc_i] <= store_word_i;
    end
    if (fetch_i) begin
      fetched_q <= memory_q[pc_i];
    end
    if (load_i) begin
      if (access_i) begin
        word_q <= accessing(fetched_q, address_i);
      end else begin
        word_q <= fetched_q;
      end
    end
  end

  assign word_o = word_q;

endmodule
