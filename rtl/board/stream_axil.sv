// Both AXI4-Streams of a step array behind an AXI4-Lite bus (docs/board.md#the-streams): a FIFO of
// words for each, filled and emptied at one address, DATA.
//
//   0x0 ID      "STRM"
//   0x4 LEVELS  room for words to write (15 to 0), words that can be read (31 to 16)
//   0x8 STATUS  bit 0: ERROR, sticky; any write empties both FIFOs and clears it
//   0xc DATA    write: the next word in; read: the next word out
//
// Words in are packets: a header, the number of words (15 to 0) and TUSER (31 to 16), then so many
// words, which leave on m_axis, TLAST with the last. Behind the words of a packet that came on
// s_axis stands the same word, number and TUSER. A header of 0 words is no packet.
//
// A write of DATA without room, or not of all bytes, and a read without a word are answered with
// SLVERR and set ERROR. From then on all accesses of DATA are, and move nothing, until STATUS is
// written, as what comes behind a lost word would be taken for something else. Whoever goes
// by LEVELS never sees it, as room and words only grow meanwhile. Nothing waits on the bus.
//
// A write of STATUS ends packets that have begun without their TLAST, as a reset of the array does.
//
// Latency: 7 cycles from a word that is written to its beat, and from a beat to LEVELS. Throughput:
// an access every second cycle, a beat every second cycle; between packets one more.

module stream_axil #(
  parameter int IN_WORDS = 512,
  parameter int OUT_WORDS = 512,
  parameter int USER_W = 4,
  localparam int ADDR_W = 12,
  localparam int DATA_W = 32,
  localparam int STRB_W = 4
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic [ADDR_W-1:0] s_axil_awaddr,
  input  logic [2:0]        s_axil_awprot,
  input  logic              s_axil_awvalid,
  output logic              s_axil_awready,
  input  logic [DATA_W-1:0] s_axil_wdata,
  input  logic [STRB_W-1:0] s_axil_wstrb,
  input  logic              s_axil_wvalid,
  output logic              s_axil_wready,
  output logic [1:0]        s_axil_bresp,
  output logic              s_axil_bvalid,
  input  logic              s_axil_bready,
  input  logic [ADDR_W-1:0] s_axil_araddr,
  input  logic [2:0]        s_axil_arprot,
  input  logic              s_axil_arvalid,
  output logic              s_axil_arready,
  output logic [DATA_W-1:0] s_axil_rdata,
  output logic [1:0]        s_axil_rresp,
  output logic              s_axil_rvalid,
  input  logic              s_axil_rready,

  input  logic [DATA_W-1:0] s_axis_tdata,
  input  logic [USER_W:0]   s_axis_tuser,
  input  logic              s_axis_tlast,
  input  logic              s_axis_tvalid,
  output logic              s_axis_tready,

  output logic [DATA_W-1:0] m_axis_tdata,
  output logic [USER_W-1:0] m_axis_tuser,
  output logic              m_axis_tlast,
  output logic              m_axis_tvalid,
  input  logic              m_axis_tready
);

  localparam int WORD_W = ADDR_W - 2;
  localparam int HALF_W = 16;  // of LEVELS and of headers
  localparam int MOST_WORDS = 1 << (HALF_W - 1);
  localparam int KEPT_W = USER_W > 0 ? USER_W : 1;  // a width of none is left to its check
  localparam int IN_W = step_pkg::index_w(IN_WORDS) + 1;
  localparam int OUT_COUNT_W = step_pkg::index_w(OUT_WORDS) + 1;
  localparam logic [DATA_W-1:0] ID_VALUE = "STRM";
  localparam logic [WORD_W-1:0] ID = WORD_W'(0);
  localparam logic [WORD_W-1:0] LEVELS = WORD_W'(1);
  localparam logic [WORD_W-1:0] STATUS = WORD_W'(2);
  localparam logic [WORD_W-1:0] DATA = WORD_W'(3);

  if (IN_WORDS > MOST_WORDS || OUT_WORDS > MOST_WORDS) begin : gen_check_words
    initial $fatal(1, "%m: IN_WORDS %0d and OUT_WORDS %0d must be at most %0d",
                   IN_WORDS, OUT_WORDS, MOST_WORDS);
  end
  if (USER_W < 1 || USER_W >= HALF_W) begin : gen_check_user
    initial $fatal(1, "%m: USER_W must be 1 to %0d, got %0d", HALF_W - 1, USER_W);
  end

  // ---------------------------------------------------------------------------------------------
  // Bus
  // ---------------------------------------------------------------------------------------------
  logic write, read, write_data_register, read_data_register, flush, run_n;
  logic push, pop, accepts, gives, error_q;
  logic [WORD_W-1:0] write_addr, read_addr;
  logic [DATA_W-1:0] write_data, read_data, next_out;
  logic [STRB_W-1:0] write_strb;
  logic [IN_W-1:0] room_q;
  logic some_out_q;
  logic [OUT_COUNT_W-1:0] out_count;
  assign write_data_register = write && write_addr == DATA;
  assign read_data_register = read && read_addr == DATA;
  assign flush = write && write_addr == STATUS;
  assign run_n = rst_ni && !flush;
  assign accepts = room_q != '0 && &write_strb && !error_q;
  assign gives = some_out_q && !error_q;
  assign push = write_data_register && accepts;
  assign pop = read_data_register && gives;

  always_comb begin
    read_data = '0;
    if (read_addr == ID) begin
      read_data = ID_VALUE;
    end else if (read_addr == LEVELS) begin
      read_data = {HALF_W'(out_count), HALF_W'(room_q)};
    end else if (read_addr == STATUS) begin
      read_data[0] = error_q;
    end else begin
      read_data = next_out;
    end
  end

  axil_slave #(
    .ADDR_W(ADDR_W),
    .SETUP(1)
  ) u_slave (
    .clk_i,
    .rst_ni,
    .changing_i(1'b0),
    .s_axil_awaddr,
    .s_axil_awprot,
    .s_axil_awvalid,
    .s_axil_awready,
    .s_axil_wdata,
    .s_axil_wstrb,
    .s_axil_wvalid,
    .s_axil_wready,
    .s_axil_bresp,
    .s_axil_bvalid,
    .s_axil_bready,
    .s_axil_araddr,
    .s_axil_arprot,
    .s_axil_arvalid,
    .s_axil_arready,
    .s_axil_rdata,
    .s_axil_rresp,
    .s_axil_rvalid,
    .s_axil_rready,
    .write_o(write),
    .write_addr_o(write_addr),
    .write_data_o(write_data),
    .write_strb_o(write_strb),
    .write_error_i(!(write_addr == STATUS || (write_addr == DATA && accepts))),
    .read_o(read),
    .read_addr_o(read_addr),
    .read_data_i(read_data),
    .read_error_i(read_addr > DATA || (read_addr == DATA && !gives))
  );

  // ---------------------------------------------------------------------------------------------
  // In: words from the bus, a packet behind its header. A word is there from the second cycle on
  // behind the one before, as in the FIFO.
  // ---------------------------------------------------------------------------------------------
  logic some_in_q, in_full, take, is_header;
  logic [IN_W-1:0] in_count;
  logic [DATA_W-1:0] next_in;
  logic [HALF_W-1:0] left_q;  // words of the packet
  logic [USER_W-1:0] user_q;
  assign is_header = left_q == '0;
  assign take = some_in_q && (is_header || m_axis_tready);
  assign m_axis_tvalid = some_in_q && !is_header;
  assign m_axis_tdata = next_in;
  assign m_axis_tuser = user_q;
  assign m_axis_tlast = left_q == HALF_W'(1);

  step_trace #(
    .W(DATA_W),
    .DEPTH(IN_WORDS)
  ) u_in (
    .clk_i,
    .rst_ni(run_n),
    .push_i(push),
    .data_i(write_data),
    .full_o(in_full),
    .pop_i(take),
    .data_o(next_in),
    .count_o(in_count)
  );

  always_ff @(posedge clk_i) begin
    if (take && is_header) begin
      user_q <= next_in[HALF_W+:KEPT_W];
    end
    if (!run_n) begin
      room_q <= IN_W'(IN_WORDS);
      some_in_q <= 1'b0;
      left_q <= '0;
      error_q <= 1'b0;
    end else begin
      room_q <= room_q - IN_W'(push) + IN_W'(take);
      some_in_q <= in_count != '0 && !take;
      if (take) begin
        left_q <= is_header ? next_in[HALF_W-1:0] : left_q - 1'b1;
      end
      error_q <= error_q || (write_data_register && !accepts) || (read_data_register && !gives);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Out: words of packets, and behind each its number of words and TUSER
  // ---------------------------------------------------------------------------------------------
  logic out_full, given, ends_q;
  logic [HALF_W-1:0] length_q;
  logic [USER_W:0] out_user_q;
  assign s_axis_tready = !out_full && !ends_q;
  assign given = s_axis_tvalid && s_axis_tready;

  step_trace #(
    .W(DATA_W),
    .DEPTH(OUT_WORDS)
  ) u_out (
    .clk_i,
    .rst_ni(run_n),
    .push_i(given || ends_q),
    .data_i(ends_q ? {HALF_W'(out_user_q), length_q} : s_axis_tdata),
    .full_o(out_full),
    .pop_i(pop),
    .data_o(next_out),
    .count_o(out_count)
  );

  always_ff @(posedge clk_i) begin
    if (given) begin
      out_user_q <= s_axis_tuser;
    end
    if (!run_n) begin
      some_out_q <= 1'b0;
      ends_q <= 1'b0;
      length_q <= '0;
    end else begin
      some_out_q <= out_count != '0 && !pop;
      ends_q <= ends_q ? out_full : given && s_axis_tlast;
      if (given) begin
        length_q <= length_q + 1'b1;
      end else if (ends_q && !out_full) begin
        length_q <= '0;
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, in_full, next_in};

endmodule
