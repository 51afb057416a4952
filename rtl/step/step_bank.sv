// A bank of the step engine's register file: DEPTH registers of W bits, one write port, and a read
// port on each side (distributed RAM, one copy each). A port with `take_i` gives what the bank is
// offered in this cycle instead of a register. Nothing is reset.
//
// Latency: reads are combinational; what is written can be read from the next cycle on.
// Throughput: one write and two reads a cycle.

module step_bank #(
  parameter int W = 32,
  parameter int DEPTH = 64,
  localparam int ADDRESS_W = $clog2(DEPTH),
  localparam int SIDES = step_pkg::SIDES
) (
  input  logic                       clk_i,
  input  logic                       write_i,
  input  logic [ADDRESS_W-1:0]       write_address_i,
  input  logic [W-1:0]               write_data_i,
  input  logic [W-1:0]               offered_i,
  input  logic [SIDES-1:0]           take_i,
  input  logic [SIDES*ADDRESS_W-1:0] read_address_i,
  output logic [SIDES*W-1:0]         read_data_o
);

  if (DEPTH < 2 || DEPTH != 1 << ADDRESS_W) begin : gen_check
    initial $fatal(1, "%m: DEPTH %0d must be a power of two, at least 2", DEPTH);
  end

  (* ram_style = "distributed" *) logic [W-1:0] memory_q[DEPTH];

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      memory_q[write_address_i] <= write_data_i;
    end
  end

  for (genvar side = 0; side < SIDES; side++) begin : gen_side
    assign read_data_o[W*side+:W] =
        take_i[side] ? offered_i : memory_q[read_address_i[ADDRESS_W*side+:ADDRESS_W]];
  end

endmodule
