// A bank of the step engine's register file: DEPTH registers of W bits, one write port and READS
// read ports (distributed RAM, one copy a read port). Nothing is reset.
//
// Latency: reads are combinational; what is written can be read from the next cycle on.
// Throughput: one write and READS reads a cycle.
module step_bank #(
    parameter int W = 32,
    parameter int DEPTH = 64,
    parameter int READS = 2,
    localparam int ADDRESS_W = $clog2(DEPTH)
) (
    input  logic clk_i,
    input  logic write_i,
    input  logic [ADDRESS_W-1:0] write_address_i,
    input  logic [W-1:0] write_data_i,
    input  logic [READS*ADDRESS_W-1:0] read_address_i,
    output logic [READS*W-1:0] read_data_o
);

  if (DEPTH < 2 || DEPTH != 1 << ADDRESS_W || READS < 1) begin : g_check
    initial $fatal(1, "step_bank: DEPTH %0d must be a power of two from 2 on, READS %0d from 1 on",
                   DEPTH, READS);
  end

  logic [W-1:0] memory_q[DEPTH];

  always_ff @(posedge clk_i) if (write_i) memory_q[write_address_i] <= write_data_i;

  for (genvar port = 0; port < READS; port++) begin : g_read
    assign read_data_o[W*port+:W] = memory_q[read_address_i[ADDRESS_W*port+:ADDRESS_W]];
  end

endmodule
