// One AXI4-Lite bus for two slaves: the highest bit of an address chooses. One write and one read
// are open at a time; the next one waits for the response, so that responses come in order.
//
// Latency: 0 cycles; a response gates the next address by a register. Throughput: one write and one
// read from address to response, back to back.

module axil_split #(
  parameter int ADDR_W = 12,  // of each slave
  localparam int DATA_W = 32,
  localparam int STRB_W = 4
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic [ADDR_W:0]   s_axil_awaddr,
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
  input  logic [ADDR_W:0]   s_axil_araddr,
  input  logic [2:0]        s_axil_arprot,
  input  logic              s_axil_arvalid,
  output logic              s_axil_arready,
  output logic [DATA_W-1:0] s_axil_rdata,
  output logic [1:0]        s_axil_rresp,
  output logic              s_axil_rvalid,
  input  logic              s_axil_rready,

  // Both slaves, the one of the low addresses in the low bits
  output logic [ADDR_W-1:0]      m_axil_awaddr,
  output logic [2:0]             m_axil_awprot,
  output logic [1:0]             m_axil_awvalid,
  input  logic [1:0]             m_axil_awready,
  output logic [DATA_W-1:0]      m_axil_wdata,
  output logic [STRB_W-1:0]      m_axil_wstrb,
  output logic [1:0]             m_axil_wvalid,
  input  logic [1:0]             m_axil_wready,
  input  logic [1:0][1:0]        m_axil_bresp,
  input  logic [1:0]             m_axil_bvalid,
  output logic [1:0]             m_axil_bready,
  output logic [ADDR_W-1:0]      m_axil_araddr,
  output logic [2:0]             m_axil_arprot,
  output logic [1:0]             m_axil_arvalid,
  input  logic [1:0]             m_axil_arready,
  input  logic [1:0][DATA_W-1:0] m_axil_rdata,
  input  logic [1:0][1:0]        m_axil_rresp,
  input  logic [1:0]             m_axil_rvalid,
  output logic [1:0]             m_axil_rready
);

  if (ADDR_W < 3) begin : gen_check
    initial $fatal(1, "%m: ADDR_W must be at least 3, got %0d", ADDR_W);
  end

  // ---------------------------------------------------------------------------------------------
  // Writes: data may come before their address, and wait for it
  // ---------------------------------------------------------------------------------------------
  logic aw_done_q, w_done_q, write_q, to_write, w_passes;
  logic [1:0] write_to;
  assign to_write = aw_done_q ? write_q : s_axil_awaddr[ADDR_W];
  assign write_to = {to_write, !to_write};
  assign w_passes = (aw_done_q || s_axil_awvalid) && !w_done_q;

  assign m_axil_awaddr = s_axil_awaddr[ADDR_W-1:0];
  assign m_axil_awprot = s_axil_awprot;
  assign m_axil_awvalid = write_to & {2{s_axil_awvalid && !aw_done_q}};
  assign s_axil_awready = m_axil_awready[to_write] && !aw_done_q;
  assign m_axil_wdata = s_axil_wdata;
  assign m_axil_wstrb = s_axil_wstrb;
  assign m_axil_wvalid = write_to & {2{s_axil_wvalid && w_passes}};
  assign s_axil_wready = m_axil_wready[to_write] && w_passes;
  assign s_axil_bresp = m_axil_bresp[write_q];
  assign s_axil_bvalid = m_axil_bvalid[write_q] && aw_done_q;
  assign m_axil_bready = write_to & {2{s_axil_bready && aw_done_q}};

  always_ff @(posedge clk_i) begin
    if (s_axil_awvalid && s_axil_awready) begin
      write_q <= s_axil_awaddr[ADDR_W];
    end
    if (!rst_ni || (s_axil_bvalid && s_axil_bready)) begin
      aw_done_q <= 1'b0;
      w_done_q <= 1'b0;
    end else begin
      aw_done_q <= aw_done_q || (s_axil_awvalid && s_axil_awready);
      w_done_q <= w_done_q || (s_axil_wvalid && s_axil_wready);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Reads
  // ---------------------------------------------------------------------------------------------
  logic ar_done_q, read_q, to_read;
  logic [1:0] read_to;
  assign to_read = ar_done_q ? read_q : s_axil_araddr[ADDR_W];
  assign read_to = {to_read, !to_read};

  assign m_axil_araddr = s_axil_araddr[ADDR_W-1:0];
  assign m_axil_arprot = s_axil_arprot;
  assign m_axil_arvalid = read_to & {2{s_axil_arvalid && !ar_done_q}};
  assign s_axil_arready = m_axil_arready[to_read] && !ar_done_q;
  assign s_axil_rdata = m_axil_rdata[read_q];
  assign s_axil_rresp = m_axil_rresp[read_q];
  assign s_axil_rvalid = m_axil_rvalid[read_q] && ar_done_q;
  assign m_axil_rready = read_to & {2{s_axil_rready && ar_done_q}};

  always_ff @(posedge clk_i) begin
    if (s_axil_arvalid && s_axil_arready) begin
      read_q <= s_axil_araddr[ADDR_W];
    end
    if (!rst_ni || (s_axil_rvalid && s_axil_rready)) begin
      ar_done_q <= 1'b0;
    end else begin
      ar_done_q <= ar_done_q || (s_axil_arvalid && s_axil_arready);
    end
  end

endmodule
