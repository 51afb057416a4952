// The serial link with registers behind it that show what was done, and how often.
//
//   0x000 to 0x0fc  memory
//   0x100           reads count up; a write is added to its three-fold
//   0x104           how many writes there were, all of them
//   from 0x200      SLVERR
//
// `hold_i` holds back all answers, and stalls come at random.

module link_bench #(
  parameter int CLOCK_HZ = 100_000_000,
  parameter int BAUD = 10_000_000,
  parameter int ADDR_W = 12
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o,
  input  logic hold_i
);

  logic [ADDR_W-1:0] awaddr, araddr;
  logic [2:0] awprot, arprot;
  logic [31:0] wdata, rdata;
  logic [3:0] wstrb;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic aw_in, aw_go, w_in, w_go, b_in, b_go, ar_in, ar_go, r_in, r_go;

  uart_axil #(
    .CLOCK_HZ(CLOCK_HZ),
    .BAUD(BAUD),
    .ADDR_W(ADDR_W)
  ) uart_axil (
    .clk_i,
    .rst_ni,
    .rx_i,
    .tx_o,
    .m_axil_awaddr(awaddr),
    .m_axil_awprot(awprot),
    .m_axil_awvalid(awvalid),
    .m_axil_awready(awready),
    .m_axil_wdata(wdata),
    .m_axil_wstrb(wstrb),
    .m_axil_wvalid(wvalid),
    .m_axil_wready(wready),
    .m_axil_bresp(bresp),
    .m_axil_bvalid(bvalid),
    .m_axil_bready(bready),
    .m_axil_araddr(araddr),
    .m_axil_arprot(arprot),
    .m_axil_arvalid(arvalid),
    .m_axil_arready(arready),
    .m_axil_rdata(rdata),
    .m_axil_rresp(rresp),
    .m_axil_rvalid(rvalid),
    .m_axil_rready(rready)
  );

  // A handshake passes in the cycles in which its bit of `lets_q` is set.
  logic [15:0] random_q;
  logic [4:0] lets;
  assign lets = random_q[4:0] | {5{!random_q[9]}};
  assign aw_in = awvalid && lets[0];
  assign awready = aw_go && lets[0];
  assign w_in = wvalid && lets[1];
  assign wready = w_go && lets[1];
  assign bvalid = b_in && lets[2] && !hold_i;
  assign b_go = bready && lets[2] && !hold_i;
  assign ar_in = arvalid && lets[3];
  assign arready = ar_go && lets[3];
  assign rvalid = r_in && lets[4] && !hold_i;
  assign r_go = rready && lets[4] && !hold_i;

  logic write, read;
  logic [ADDR_W-3:0] write_word, read_word;
  logic [31:0] write_data;
  logic [3:0] write_strb;

  axil_slave #(
    .ADDR_W(ADDR_W),
    .SETUP(1)
  ) u_slave (
    .clk_i,
    .rst_ni,
    .changing_i(1'b0),
    .s_axil_awaddr(awaddr),
    .s_axil_awprot(awprot),
    .s_axil_awvalid(aw_in),
    .s_axil_awready(aw_go),
    .s_axil_wdata(wdata),
    .s_axil_wstrb(wstrb),
    .s_axil_wvalid(w_in),
    .s_axil_wready(w_go),
    .s_axil_bresp(bresp),
    .s_axil_bvalid(b_in),
    .s_axil_bready(b_go),
    .s_axil_araddr(araddr),
    .s_axil_arprot(arprot),
    .s_axil_arvalid(ar_in),
    .s_axil_arready(ar_go),
    .s_axil_rdata(rdata),
    .s_axil_rresp(rresp),
    .s_axil_rvalid(r_in),
    .s_axil_rready(r_go),
    .write_o(write),
    .write_addr_o(write_word),
    .write_data_o(write_data),
    .write_strb_o(write_strb),
    .write_error_i(write_word[ADDR_W-3:7] != '0),
    .read_o(read),
    .read_addr_o(read_word),
    .read_data_i(!read_word[6] ? memory_q[read_word[5:0]] : read_word[0] ? writes_q : counter_q),
    .read_error_i(read_word[ADDR_W-3:7] != '0)
  );

  logic [31:0] memory_q[64];
  logic [31:0] counter_q, writes_q;

  always_ff @(posedge clk_i) begin
    random_q <= {random_q[14:0], random_q[15] ^ random_q[14] ^ random_q[12] ^ random_q[3]};
    if (write && write_strb == '1 && write_word[ADDR_W-3:6] == '0) begin
      memory_q[write_word[5:0]] <= write_data;
    end
    if (write) begin
      writes_q <= writes_q + 1'b1;
    end
    if (write && 32'(write_word) == 64) begin
      counter_q <= 3 * counter_q + write_data;
    end else if (read && 32'(read_word) == 64) begin
      counter_q <= counter_q + 1'b1;
    end
    if (!rst_ni) begin
      random_q <= 16'hace1;
      counter_q <= '0;
      writes_q <= '0;
    end
  end

endmodule
