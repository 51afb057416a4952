// Input or output memory of a datapath of the step array: DEPTH words of W bits in block RAM, one
// write port and one read port. Nothing is reset.
//
// A word must not be read in the cycle in which it is written.
//
// Latency: MEMORY_STAGES (2) cycles from an address to its data; what is written can be read in the
// next cycle. Throughput: one write and one read a cycle.

module array_memory #(
  parameter int W = 32,
  parameter int DEPTH = 128,
  localparam int ADDRESS_W = step_pkg::index_w(DEPTH)
) (
  input  logic                 clk_i,
  input  logic                 write_i,
  input  logic [ADDRESS_W-1:0] write_address_i,
  input  logic [W-1:0]         write_data_i,
  input  logic [ADDRESS_W-1:0] read_address_i,
  output logic [W-1:0]         read_data_o
);

  if (DEPTH < 2) begin : gen_check
    initial $fatal(1, "%m: DEPTH %0d must be at least 2", DEPTH);
  end

  (* ram_style = "block", no_rw_check *) logic [W-1:0] memory_q[step_pkg::places(DEPTH)];

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      memory_q[write_address_i] <= write_data_i;
    end
  end

  step_delay #(
    .WIDTH(W),
    .CYCLES(array_pkg::MEMORY_STAGES)
  ) u_read (
    .clk_i,
    .data_i(memory_q[read_address_i]),
    .data_o(read_data_o)
  );

endmodule
