// What the models of boards/cells are held against: memories and products, in RTL that Yosys maps
// to the cells.

// One memory: WIDTH bits a word, bytes of 9 with an enable each where it has more.
module cells_memory #(
  parameter int WIDTH = 36,
  parameter int DEPTH = 512,
  parameter bit FILLED = 0,
  localparam int PLACE_W = $clog2(DEPTH),
  localparam int BYTES = WIDTH < 9 ? 1 : WIDTH / 9
) (
  input  logic               clk_i,
  input  logic [BYTES-1:0]   write_i,
  input  logic [PLACE_W-1:0] write_at_i,
  input  logic [WIDTH-1:0]   write_data_i,
  input  logic               read_i,
  input  logic [PLACE_W-1:0] read_at_i,
  output logic [WIDTH-1:0]   read_data_o
);

  (* ram_style = "block", no_rw_check *) logic [WIDTH-1:0] memory_q[DEPTH];
  localparam int PART = WIDTH / BYTES;

  initial read_data_o = '0;
  if (FILLED) begin : gen_filled
    initial begin
      for (int i = 0; i < DEPTH; i++) begin
        memory_q[i] = WIDTH'(i * 40503 + 77);
      end
    end
  end

  for (genvar i = 0; i < BYTES; i++) begin : gen_byte
    always_ff @(posedge clk_i) begin
      if (write_i[i]) begin
        memory_q[write_at_i][PART*i+:PART] <= write_data_i[PART*i+:PART];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (read_i) begin
      read_data_o <= memory_q[read_at_i];
    end
  end

endmodule

// Memories of all widths, and products: `_rtl` and `_gates` in one text.
module cells_mapped (
  input  logic        clk_i,
  input  logic [3:0]  write_i,
  input  logic        read_i,
  input  logic [13:0] write_at_i,
  input  logic [13:0] read_at_i,
  input  logic [35:0] data_i,
  input  logic [23:0] a_i,
  input  logic [23:0] b_i,
  output logic [35:0] wide_o,
  output logic [17:0] half_o,
  output logic [8:0]  byte_o,
  output logic [3:0]  nibble_o,
  output logic [1:0]  pair_o,
  output logic        bit_o,
  output logic [17:0] before_o,
  output logic [35:0] product_o,
  output logic [35:0] signed_o,
  output logic [47:0] long_o
);

  cells_memory #(.WIDTH(36), .DEPTH(512), .FILLED(1)) u_wide (
    .clk_i, .read_i,
    .write_i, .write_at_i(write_at_i[8:0]), .write_data_i(data_i),
    .read_at_i(read_at_i[8:0]), .read_data_o(wide_o)
  );
  cells_memory #(.WIDTH(18), .DEPTH(1024), .FILLED(1)) u_half (
    .clk_i, .read_i,
    .write_i(write_i[1:0]), .write_at_i(write_at_i[9:0]), .write_data_i(data_i[17:0]),
    .read_at_i(read_at_i[9:0]), .read_data_o(half_o)
  );
  cells_memory #(.WIDTH(9), .DEPTH(2048)) u_byte (
    .clk_i, .read_i,
    .write_i(write_i[0]), .write_at_i(write_at_i[10:0]), .write_data_i(data_i[8:0]),
    .read_at_i(read_at_i[10:0]), .read_data_o(byte_o)
  );
  cells_memory #(.WIDTH(4), .DEPTH(4096)) u_nibble (
    .clk_i, .read_i,
    .write_i(write_i[0]), .write_at_i(write_at_i[11:0]), .write_data_i(data_i[3:0]),
    .read_at_i(read_at_i[11:0]), .read_data_o(nibble_o)
  );
  cells_memory #(.WIDTH(2), .DEPTH(8192)) u_pair (
    .clk_i, .read_i,
    .write_i(write_i[0]), .write_at_i(write_at_i[12:0]), .write_data_i(data_i[1:0]),
    .read_at_i(read_at_i[12:0]), .read_data_o(pair_o)
  );
  cells_memory #(.WIDTH(1), .DEPTH(16384)) u_bit (
    .clk_i, .read_i,
    .write_i(write_i[0]), .write_at_i, .write_data_i(data_i[0]), .read_at_i, .read_data_o(bit_o)
  );

  // One port, whose reads come before its writes
  (* ram_style = "block" *) logic [17:0] before_q[1024];
  initial before_o = '0;
  always_ff @(posedge clk_i) begin
    if (write_i[0]) begin
      before_q[write_at_i[9:0]] <= data_i[17:0];
    end
    before_o <= before_q[write_at_i[9:0]];
  end

  assign product_o = {18'd0, a_i[17:0]} * {18'd0, b_i[17:0]};
  assign signed_o = 36'($signed(a_i[17:0])) * 36'($signed(b_i[17:0]));
  assign long_o = {24'd0, a_i} * {24'd0, b_i};

endmodule
