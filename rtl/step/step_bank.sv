// A bank of the step engine's register file: DEPTH registers of W bits, one write port, and a read
// port on each side, one copy each. A port with `take_i` gives what the bank is offered in this
// cycle instead of a register. Nothing is reset.
//
// With READ_STAGES 0 the tool chooses: distributed RAM where the family has it, else flip-flops.
// With one register, or two of which the second may be the output register of a block RAM, it is
// block RAM if BLOCK, else distributed RAM. With WRITE_STAGES a register stands before the write
// port; then a register must not be read while it is on its way.
//
// Latency: READ_STAGES from an address to its data; what is written can be read 1 + WRITE_STAGES
// cycles later. Throughput: one write and two reads a cycle.

module step_bank #(
  parameter int W = 32,
  parameter int DEPTH = 64,
  parameter int READ_STAGES = 0,
  parameter int WRITE_STAGES = 0,
  parameter int BLOCK = READ_STAGES > 0 ? 1 : 0,
  localparam int ADDRESS_W = step_pkg::index_w(DEPTH),
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

  if (DEPTH < 2) begin : gen_check_depth
    initial $fatal(1, "%m: DEPTH %0d must be at least 2", DEPTH);
  end
  if (READ_STAGES < 0 || READ_STAGES > step_pkg::MAX_READ_STAGES) begin : gen_check_read
    initial $fatal(1, "%m: READ_STAGES %0d must be 0 to %0d",
                   READ_STAGES, step_pkg::MAX_READ_STAGES);
  end
  if (BLOCK < 0 || BLOCK > 1) begin : gen_check_block
    initial $fatal(1, "%m: BLOCK %0d must be 0 or 1", BLOCK);
  end
  if (BLOCK != 0 && READ_STAGES == 0) begin : gen_check_block_read
    initial $fatal(1, "%m: a block RAM needs READ_STAGES");
  end

  // verilator lint_off UNUSEDPARAM  // it ignores attributes
  // verilog_lint: waive-start explicit-parameter-storage-type  // a string
  localparam STYLE = BLOCK != 0 ? "block" : READ_STAGES != 0 ? "distributed" : "auto";
  // verilog_lint: waive-stop explicit-parameter-storage-type
  localparam int NEVER_BOTH = WRITE_STAGES > 0 ? 1 : 0;  // read and written in the same cycle
  // verilator lint_on UNUSEDPARAM
  (* ram_style = STYLE, no_rw_check = NEVER_BOTH *) logic [W-1:0] memory_q[step_pkg::places(DEPTH)];

  logic write;
  logic [ADDRESS_W-1:0] write_address;
  logic [W-1:0] write_data;

  step_delay #(
    .WIDTH(1 + ADDRESS_W + W),
    .CYCLES(WRITE_STAGES)
  ) u_write (
    .clk_i,
    .data_i({write_i, write_address_i, write_data_i}),
    .data_o({write, write_address, write_data})
  );

  always_ff @(posedge clk_i) begin
    if (write) begin
      memory_q[write_address] <= write_data;
    end
  end

  logic [W-1:0] offered;
  logic [SIDES-1:0] take;

  step_delay #(
    .WIDTH(SIDES + W),
    .CYCLES(READ_STAGES)
  ) u_offered (
    .clk_i,
    .data_i({take_i, offered_i}),
    .data_o({take, offered})
  );

  wire [W-1:0] read_data[SIDES];

  for (genvar side = 0; side < SIDES; side++) begin : gen_side
    logic [W-1:0] data;

    step_delay #(
      .WIDTH(W),
      .CYCLES(READ_STAGES)
    ) u_read (
      .clk_i,
      .data_i(memory_q[read_address_i[ADDRESS_W*side+:ADDRESS_W]]),
      .data_o(data)
    );

    assign read_data[side] = take[side] ? offered : data;
  end

  // One concatenation, as Icarus is slow at parts.
  assign read_data_o = {read_data[1], read_data[0]};

endmodule
