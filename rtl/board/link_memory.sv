// Words of frames: a memory with one write port and one read port. Nothing is reset.
//
// Latency: 2 cycles from an address to its word, one of them for a register behind the block RAM;
// what is written can be read in the next cycle.
// Throughput: one write and one read a cycle.

module link_memory
  import link_pkg::*;
#(
  parameter int DEPTH = 256,
  localparam int PLACE_W = $clog2(DEPTH)
) (
  input  logic               clk_i,
  input  logic               write_i,
  input  logic [PLACE_W-1:0] write_address_i,
  input  logic [WORD_W-1:0]  write_data_i,
  input  logic [PLACE_W-1:0] read_address_i,
  output logic [WORD_W-1:0]  read_data_o
);

  if (DEPTH < 2 || DEPTH != 1 << PLACE_W) begin : gen_check
    initial $fatal(1, "%m: DEPTH %0d must be a power of two from 2 on", DEPTH);
  end

  (* ram_style = "block", no_rw_check *) logic [WORD_W-1:0] memory_q[DEPTH];
  logic [WORD_W-1:0] read_q, data_q;
  assign read_data_o = data_q;

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      memory_q[write_address_i] <= write_data_i;
    end
    read_q <= memory_q[read_address_i];
    data_q <= read_q;
  end

endmodule
