// The step engine behind a serial line: what a board's top level needs besides clock, reset and
// pins (docs/board.md). One context; defaults are those of step_engine.
//
// Latency and throughput: those of uart_axil and step_engine.

module board_engine #(
  parameter int CLOCK_HZ = 80_000_000,
  parameter int BAUD = 3_000_000,
  parameter int NUM_ADD = 2,
  parameter int NUM_MUL = 2,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 3,
  parameter int MUL_STAGES = 2,
  parameter int REC_STAGES = 6,
  parameter int SINCOS_STAGES = 13,
  parameter int DEPTH = 64,
  parameter int PROGRAM_DEPTH = 1024,
  parameter int TRACE_DEPTH = 512,
  parameter int TRACE_REGISTERS = 128,
  parameter int PROGRAMS = 16
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o
);

  localparam int ADDR_W = step_engine_regs_pkg::ADDR_W;

  logic [ADDR_W-1:0] awaddr, araddr;
  logic [2:0] awprot, arprot;
  logic [link_pkg::WORD_W-1:0] wdata, rdata;
  logic [link_pkg::WORD_BYTES-1:0] wstrb;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready, irq;

  uart_axil #(
    .CLOCK_HZ(CLOCK_HZ),
    .BAUD(BAUD),
    .ADDR_W(ADDR_W)
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

  step_engine #(
    .NUM_ADD(NUM_ADD),
    .NUM_MUL(NUM_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .ADD_STAGES(ADD_STAGES),
    .MUL_STAGES(MUL_STAGES),
    .REC_STAGES(REC_STAGES),
    .SINCOS_STAGES(SINCOS_STAGES),
    .DEPTH(DEPTH),
    .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .TRACE_DEPTH(TRACE_DEPTH),
    .TRACE_REGISTERS(TRACE_REGISTERS),
    .PROGRAMS(PROGRAMS)
  ) u_engine (
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
    .irq_o(irq)
  );

  logic unused;
  assign unused = irq;  // a host at a serial line polls

endmodule
