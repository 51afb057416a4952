// The step array behind a serial line: what a board's top level needs besides clock, reset and
// pins (docs/board.md). The lower half of the addresses of the link are the registers of the
// array, the upper half is for its streams.
//
//   rx_i, tx_o <-> uart_axil <-> axil_split <-> step_array
//                                    |            ^ streams
//                                    '---> stream_axil
//
// Latency and throughput: those of uart_axil, stream_axil and step_array.

module board_array #(
  parameter int CLOCK_HZ = 80_000_000,
  parameter int BAUD = 3_000_000,
  parameter int IN_WORDS = 512,  // of the FIFOs
  parameter int OUT_WORDS = 512,
  parameter int NUM_ADD = 2,
  parameter int NUM_MUL = 2,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 3,
  parameter int MUL_STAGES = 2,
  parameter int REC_STAGES = 6,
  parameter int SINCOS_STAGES = 13,
  parameter int RARE_LOGIC = 0,
  parameter int DEPTH = 128,
  parameter int CONTEXTS = 8,
  parameter int READ_STAGES = CONTEXTS > 2 ? 2 : CONTEXTS - 1,
  parameter int OPERAND_STAGES = CONTEXTS > 3 ? 1 : 0,
  parameter int BLOCK_RAM = READ_STAGES > 0 ? 1 : 0,
  parameter int DATAPATHS = 1,
  parameter int PROGRAM_DEPTH = 1024,
  parameter int IN_DEPTH = 64,
  parameter int OUT_DEPTH = 128,
  parameter int SCRATCH_DEPTH = 0,
  parameter int SEGMENTS = 64,
  parameter int FUNCTIONS = 16
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o
);

  localparam int ADDR_W = step_array_regs_pkg::ADDR_W;
  localparam int USER_W = step_pkg::index_w(FUNCTIONS);
  localparam int MOST_WORDS = (1 << 16) - 1;  // of a packet

  if (IN_DEPTH > MOST_WORDS || OUT_DEPTH > MOST_WORDS) begin : gen_check_packets
    initial $fatal(1, "%m: IN_DEPTH %0d and OUT_DEPTH %0d must be at most %0d",
                   IN_DEPTH, OUT_DEPTH, MOST_WORDS);
  end

  // The link's bus, and those of array (0) and streams (1)
  logic [ADDR_W:0] awaddr, araddr;
  logic [ADDR_W-1:0] to_awaddr, to_araddr;
  logic [2:0] awprot, arprot, to_awprot, to_arprot;
  logic [link_pkg::WORD_W-1:0] wdata, rdata, to_wdata;
  logic [link_pkg::WORD_BYTES-1:0] wstrb, to_wstrb;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready, irq;
  logic [1:0] to_awvalid, to_awready, to_wvalid, to_wready, to_bvalid, to_bready;
  logic [1:0] to_arvalid, to_arready, to_rvalid, to_rready;
  logic [1:0][1:0] to_bresp, to_rresp;
  logic [1:0][link_pkg::WORD_W-1:0] to_rdata;

  logic [link_pkg::WORD_W-1:0] in_tdata, out_tdata;
  logic [USER_W-1:0] in_tuser;
  logic [USER_W:0] out_tuser;
  logic in_tlast, in_tvalid, in_tready, out_tlast, out_tvalid, out_tready;

  uart_axil #(
    .CLOCK_HZ(CLOCK_HZ),
    .BAUD(BAUD),
    .ADDR_W(ADDR_W + 1)
  ) u_link (
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

  axil_split #(
    .ADDR_W(ADDR_W)
  ) u_split (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr(awaddr),
    .s_axil_awprot(awprot),
    .s_axil_awvalid(awvalid),
    .s_axil_awready(awready),
    .s_axil_wdata(wdata),
    .s_axil_wstrb(wstrb),
    .s_axil_wvalid(wvalid),
    .s_axil_wready(wready),
    .s_axil_bresp(bresp),
    .s_axil_bvalid(bvalid),
    .s_axil_bready(bready),
    .s_axil_araddr(araddr),
    .s_axil_arprot(arprot),
    .s_axil_arvalid(arvalid),
    .s_axil_arready(arready),
    .s_axil_rdata(rdata),
    .s_axil_rresp(rresp),
    .s_axil_rvalid(rvalid),
    .s_axil_rready(rready),
    .m_axil_awaddr(to_awaddr),
    .m_axil_awprot(to_awprot),
    .m_axil_awvalid(to_awvalid),
    .m_axil_awready(to_awready),
    .m_axil_wdata(to_wdata),
    .m_axil_wstrb(to_wstrb),
    .m_axil_wvalid(to_wvalid),
    .m_axil_wready(to_wready),
    .m_axil_bresp(to_bresp),
    .m_axil_bvalid(to_bvalid),
    .m_axil_bready(to_bready),
    .m_axil_araddr(to_araddr),
    .m_axil_arprot(to_arprot),
    .m_axil_arvalid(to_arvalid),
    .m_axil_arready(to_arready),
    .m_axil_rdata(to_rdata),
    .m_axil_rresp(to_rresp),
    .m_axil_rvalid(to_rvalid),
    .m_axil_rready(to_rready)
  );

  step_array #(
    .NUM_ADD(NUM_ADD),
    .NUM_MUL(NUM_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .ADD_STAGES(ADD_STAGES),
    .MUL_STAGES(MUL_STAGES),
    .REC_STAGES(REC_STAGES),
    .SINCOS_STAGES(SINCOS_STAGES),
    .RARE_LOGIC(RARE_LOGIC),
    .DEPTH(DEPTH),
    .CONTEXTS(CONTEXTS),
    .READ_STAGES(READ_STAGES),
    .OPERAND_STAGES(OPERAND_STAGES),
    .BLOCK_RAM(BLOCK_RAM),
    .DATAPATHS(DATAPATHS),
    .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .IN_DEPTH(IN_DEPTH),
    .OUT_DEPTH(OUT_DEPTH),
    .SCRATCH_DEPTH(SCRATCH_DEPTH),
    .SEGMENTS(SEGMENTS),
    .FUNCTIONS(FUNCTIONS)
  ) u_array (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr(to_awaddr),
    .s_axil_awprot(to_awprot),
    .s_axil_awvalid(to_awvalid[0]),
    .s_axil_awready(to_awready[0]),
    .s_axil_wdata(to_wdata),
    .s_axil_wstrb(to_wstrb),
    .s_axil_wvalid(to_wvalid[0]),
    .s_axil_wready(to_wready[0]),
    .s_axil_bresp(to_bresp[0]),
    .s_axil_bvalid(to_bvalid[0]),
    .s_axil_bready(to_bready[0]),
    .s_axil_araddr(to_araddr),
    .s_axil_arprot(to_arprot),
    .s_axil_arvalid(to_arvalid[0]),
    .s_axil_arready(to_arready[0]),
    .s_axil_rdata(to_rdata[0]),
    .s_axil_rresp(to_rresp[0]),
    .s_axil_rvalid(to_rvalid[0]),
    .s_axil_rready(to_rready[0]),
    .irq_o(irq),
    .s_axis_tdata(in_tdata),
    .s_axis_tuser(in_tuser),
    .s_axis_tlast(in_tlast),
    .s_axis_tvalid(in_tvalid),
    .s_axis_tready(in_tready),
    .m_axis_tdata(out_tdata),
    .m_axis_tuser(out_tuser),
    .m_axis_tlast(out_tlast),
    .m_axis_tvalid(out_tvalid),
    .m_axis_tready(out_tready)
  );

  stream_axil #(
    .IN_WORDS(IN_WORDS),
    .OUT_WORDS(OUT_WORDS),
    .USER_W(USER_W)
  ) u_streams (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr(to_awaddr),
    .s_axil_awprot(to_awprot),
    .s_axil_awvalid(to_awvalid[1]),
    .s_axil_awready(to_awready[1]),
    .s_axil_wdata(to_wdata),
    .s_axil_wstrb(to_wstrb),
    .s_axil_wvalid(to_wvalid[1]),
    .s_axil_wready(to_wready[1]),
    .s_axil_bresp(to_bresp[1]),
    .s_axil_bvalid(to_bvalid[1]),
    .s_axil_bready(to_bready[1]),
    .s_axil_araddr(to_araddr),
    .s_axil_arprot(to_arprot),
    .s_axil_arvalid(to_arvalid[1]),
    .s_axil_arready(to_arready[1]),
    .s_axil_rdata(to_rdata[1]),
    .s_axil_rresp(to_rresp[1]),
    .s_axil_rvalid(to_rvalid[1]),
    .s_axil_rready(to_rready[1]),
    .s_axis_tdata(out_tdata),
    .s_axis_tuser(out_tuser),
    .s_axis_tlast(out_tlast),
    .s_axis_tvalid(out_tvalid),
    .s_axis_tready(out_tready),
    .m_axis_tdata(in_tdata),
    .m_axis_tuser(in_tuser),
    .m_axis_tlast(in_tlast),
    .m_axis_tvalid(in_tvalid),
    .m_axis_tready(in_tready)
  );

  logic unused;
  assign unused = irq;  // a host at a serial line polls

endmodule
