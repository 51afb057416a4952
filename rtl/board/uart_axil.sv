// A serial line as an AXI4-Lite master: frames with bursts of reads and writes, and their answers
// (docs/board.md). What goes wrong on the line, costs time and nothing else: a frame is checked
// before any of it is done, is done once, and its answer is kept and can be asked for again.
//
//   rx_i -> uart_rx -> link_decode -> frames (2) -> link_master <-> AXI4-Lite
//   tx_o <- uart_tx <- link_encode <- answers (4) <-'
//
// A slave that does not answer makes the link wait: there is no way to take back a request.
//
// Latency: from a frame's last stop bit to the first start bit of the answer 3 cycles a word of the
// frame, those of the bus, and those of link_encode. Throughput: frames and answers back to back.

module uart_axil
  import link_pkg::*;
#(
  parameter int CLOCK_HZ = 80_000_000,
  parameter int BAUD = 3_000_000,
  parameter int ADDR_W = 12
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o,

  output logic [ADDR_W-1:0] m_axil_awaddr,
  output logic [2:0]        m_axil_awprot,
  output logic              m_axil_awvalid,
  input  logic              m_axil_awready,
  output logic [WORD_W-1:0] m_axil_wdata,
  output logic [3:0]        m_axil_wstrb,
  output logic              m_axil_wvalid,
  input  logic              m_axil_wready,
  input  logic [1:0]        m_axil_bresp,
  input  logic              m_axil_bvalid,
  output logic              m_axil_bready,
  output logic [ADDR_W-1:0] m_axil_araddr,
  output logic [2:0]        m_axil_arprot,
  output logic              m_axil_arvalid,
  input  logic              m_axil_arready,
  input  logic [WORD_W-1:0] m_axil_rdata,
  input  logic [1:0]        m_axil_rresp,
  input  logic              m_axil_rvalid,
  output logic              m_axil_rready
);

  // ---------------------------------------------------------------------------------------------
  // In
  // ---------------------------------------------------------------------------------------------
  logic got, got_error, store, frame, full, half, filled_half_q;
  logic [BYTE_W-1:0] got_data;
  logic [FRAME_W-1:0] store_address, frame_words, ask_address;
  logic [WORD_W-1:0] store_data, asked;

  uart_rx #(
    .CLOCK_HZ(CLOCK_HZ),
    .BAUD(BAUD)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .rx_i,
    .valid_o(got),
    .error_o(got_error),
    .data_o(got_data)
  );

  link_decode u_decode (
    .clk_i,
    .rst_ni,
    .valid_i(got),
    .error_i(got_error),
    .data_i(got_data),
    .full_i(full),
    .frame_o(frame),
    .words_o(frame_words),
    .write_o(store),
    .address_o(store_address),
    .data_o(store_data)
  );

  always_ff @(posedge clk_i) begin
    filled_half_q <= rst_ni && (filled_half_q ^ frame);
  end

  link_memory #(
    .DEPTH(2 * FRAME_WORDS)
  ) u_frames (
    .clk_i,
    .write_i(store),
    .write_address_i({filled_half_q, store_address}),
    .write_data_i(store_data),
    .read_address_i({half, ask_address}),
    .read_data_o(asked)
  );

  // ---------------------------------------------------------------------------------------------
  // Done
  // ---------------------------------------------------------------------------------------------
  logic answer, send, sender_ready;
  logic [WINDOW_W+FRAME_W-1:0] answer_address;
  logic [WORD_W-1:0] answer_data, sent;
  logic [WINDOW_W-1:0] slot, slot_q;
  logic [FRAME_W-1:0] send_words, send_address;

  link_master #(
    .ADDR_W(ADDR_W)
  ) u_master (
    .clk_i,
    .rst_ni,
    .frame_i(frame),
    .words_i(frame_words),
    .full_o(full),
    .half_o(half),
    .address_o(ask_address),
    .word_i(asked),
    .write_o(answer),
    .write_address_o(answer_address),
    .write_data_o(answer_data),
    .send_o(send),
    .ready_i(sender_ready),
    .slot_o(slot),
    .words_o(send_words),
    .m_axil_awaddr,
    .m_axil_awprot,
    .m_axil_awvalid,
    .m_axil_awready,
    .m_axil_wdata,
    .m_axil_wstrb,
    .m_axil_wvalid,
    .m_axil_wready,
    .m_axil_bresp,
    .m_axil_bvalid,
    .m_axil_bready,
    .m_axil_araddr,
    .m_axil_arprot,
    .m_axil_arvalid,
    .m_axil_arready,
    .m_axil_rdata,
    .m_axil_rresp,
    .m_axil_rvalid,
    .m_axil_rready
  );

  // ---------------------------------------------------------------------------------------------
  // Out
  // ---------------------------------------------------------------------------------------------
  logic put, put_ready;
  logic [BYTE_W-1:0] put_data;

  always_ff @(posedge clk_i) begin
    if (sender_ready) begin
      slot_q <= slot;
    end
  end

  link_memory #(
    .DEPTH(WINDOW * FRAME_WORDS)
  ) u_answers (
    .clk_i,
    .write_i(answer),
    .write_address_i(answer_address),
    .write_data_i(answer_data),
    .read_address_i({slot_q, send_address}),
    .read_data_o(sent)
  );

  link_encode u_encode (
    .clk_i,
    .rst_ni,
    .start_i(send),
    .ready_o(sender_ready),
    .words_i(send_words),
    .address_o(send_address),
    .data_i(sent),
    .valid_o(put),
    .ready_i(put_ready),
    .data_o(put_data)
  );

  uart_tx #(
    .CLOCK_HZ(CLOCK_HZ),
    .BAUD(BAUD)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .valid_i(put),
    .ready_o(put_ready),
    .data_i(put_data),
    .tx_o
  );

endmodule
