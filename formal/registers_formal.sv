// The register block of a top: what the hardware gives is what a read shows, and what a write
// makes of it is what the hardware is told. Of any one register, whatever stands in the others.
//
// `register_ports` is generated from the register map. Nothing older than a write's and a read's
// own cycles has an effect on what is asserted, but for the address in the cycle before a write
// where maps are decoded ahead, and registers start with any content: the steps of the longest, a
// read that answers two cycles later, are complete. What software writes and the registers keep is
// proved at the tops (top_formal).
//
// With DECODED_AHEAD, registers hold what a write's address in the cycle before says, and it is
// assumed to stand from then on. `write_set_up` of axil_slave_formal, with SETUP as the top's, and
// its `lemma_pending` prove that of the bus.

module registers_formal #(
  parameter bit REGISTERED = 1'b1,  // answers come from registers
  parameter bit DECODED_AHEAD = 1'b0,  // a write's address is decoded in the cycle before it
  localparam int WORD_W = 10,
  localparam int DATA_W = 32,
  localparam int FLOAT_W = 20
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              write_i,
  input logic [WORD_W-1:0] write_addr_i,
  input logic [DATA_W-1:0] write_data_i,
  input logic [DATA_W-1:0] write_mask_i,
  input logic              read_i,
  input logic [WORD_W-1:0] read_addr_i,
  input logic [WORD_W-1:0] chosen_i,  // word address of a register; stands
  input logic [DATA_W-1:0] given_i,
  input logic              ok_i,
  input logic [DATA_W-1:0] other_i,
  input logic              other_ok_i
);

  logic shown, written, write_checked, read_checked, read_acts, locked, is_float;
  logic write_hit, read_hit, read_locked, write_told, read_told;
  logic [DATA_W-1:0] read_data, value, merged;

  register_ports u_ports (
    .clk_i, .rst_ni, .write_i, .read_i, .ok_i, .other_ok_i, .write_addr_i, .read_addr_i,
    .chosen_i, .write_data_i, .write_mask_i, .given_i, .other_i, .shown_o(shown),
    .written_o(written), .write_checked_o(write_checked), .read_checked_o(read_checked),
    .read_acts_o(read_acts), .locked_o(locked), .float_o(is_float), .write_hit_o(write_hit),
    .read_hit_o(read_hit), .read_locked_o(read_locked), .write_told_o(write_told),
    .read_told_o(read_told), .read_data_o(read_data), .value_o(value), .merged_o(merged)
  );

  // What the register map says
  logic [DATA_W-1:0] kept, given, makes;
  logic writes, reads, may_write, may_read;
  assign kept = is_float ? DATA_W'({FLOAT_W{1'b1}}) : '1;
  assign given = given_i & kept;
  assign makes = ((given & ~write_mask_i) | (write_data_i & write_mask_i)) & kept;
  assign writes = write_addr_i == chosen_i;
  assign reads = read_addr_i == chosen_i;
  assign may_write = written && (!write_checked || ok_i);
  assign may_read = !read_checked || ok_i;

  // Steps ago
  logic [1:0] steps_q = '0;  // at least so many
  logic writes_q, may_write_q, reads_q, reads_2q, may_read_q;
  logic [DATA_W-1:0] given_q, makes_q;
  logic [WORD_W-1:0] chosen_q, write_addr_q;

  always_ff @(posedge clk_i) begin
    steps_q <= steps_q[1] ? steps_q : steps_q + 1'b1;
    writes_q <= writes;
    may_write_q <= may_write;
    reads_q <= reads;
    reads_2q <= reads_q;
    may_read_q <= may_read;
    given_q <= given;
    makes_q <= makes;
    chosen_q <= chosen_i;
    write_addr_q <= write_addr_i;
  end

  always_comb begin
    assume (shown);
    if (DECODED_AHEAD) begin  // a write's address stands in the step before it, too
      assume (!write_i || (steps_q != '0 && write_addr_i == write_addr_q));
    end
    assume (steps_q == '0 || chosen_i == chosen_q);
    lock_is_told: assert (!reads || read_locked == locked);
    next_value: assert (!write_checked || merged == makes);
    write_is_told: assert (write_told == (written && write_i && writes));
  end

  if (REGISTERED) begin : gen_registered
    always_comb begin
      if (steps_q != '0) begin
        write_answer: assert (!writes_q || write_hit == may_write_q);
        written_value: assert (!written || value == makes_q);
      end
      if (steps_q[1]) begin
        read_value: assert (!reads_2q || (read_data == given_q && read_hit == may_read_q));
        read_is_told: assert (
            read_told == (read_acts && read_i && reads && (!read_checked || read_hit)));
      end
    end
  end else begin : gen_combinational
    always_comb begin
      write_answer: assert (!writes || write_hit == may_write);
      read_value: assert (!reads || (read_data == given && read_hit == may_read));
    end
  end

endmodule
