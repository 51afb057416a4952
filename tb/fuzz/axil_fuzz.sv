// Bus master of the fuzzer: reads and writes at the same time, each channel held back on its own.
//
// A batch begins when `start_i` changes and is over when `done_o` equals it. Its writes are done in
// their order, likewise its reads; the two directions do not wait for each other, nor the channels
// of one: AW, W and AR each go on to the next access as soon as the last one is taken.
//
// An operation, the first one lowest; a delay is cycles without valid (B, R: without ready):
//
//   63 60 59  56 55 52 51  48 47  44 43   32 31  0     31  20 19 16 15  12 11    0
//   [ 0  | B   |  W  |  AW  | strb | address | data ]   [  0  | R  |  AR  | address ]
//
// Answers, as many as `written_o` and `read_o` say: the cycle of the batch in which the response
// was there first, and the interrupt in that cycle.
//
//   31   8 7  3  2   1      0                          63  40 39 35 34  33     32 31   0
//   [ cycle | 0 | irq | response ]                     [ cycle | 0 | irq | response | data ]
//
// With `reset_i` the batch ends in cycle `reset_cycle_i`, in which `rst_no` is low, and one more.
// Otherwise the bus is watched for TAIL cycles after the last response. A response of nothing ends
// the batch, too: taken again and again, it would never be quiet.
//
// Latency: the first request is valid in the cycle after the start. Throughput: that of the bus.

module axil_fuzz #(
  localparam int ADDR_W = 12,
  localparam int OPS = 256,
  localparam int WRITE_W = 64,
  localparam int READ_W = 32,
  localparam int COUNT_W = $clog2(OPS + 1),
  localparam int INDEX_W = $clog2(OPS),
  localparam int DATA_W = 32,
  localparam int STRB_W = 4,
  localparam int STAMP_W = 24,
  localparam int DELAY_W = 4,
  localparam int TAIL = 8,
  localparam int LIMIT = 200  // cycles without a handshake: a hang
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic                   start_i,
  input  logic [COUNT_W-1:0]     writes_i,
  input  logic [COUNT_W-1:0]     reads_i,
  input  logic                   reset_i,
  input  logic [STAMP_W-1:0]     reset_cycle_i,
  input  logic [OPS*WRITE_W-1:0] write_ops_i,
  input  logic [OPS*READ_W-1:0]  read_ops_i,
  output logic                   done_o,
  output logic                   rst_no,
  output logic                   hung_o,
  output logic [1:0]             extra_o,     // a response that no access has asked for: B, R
  output logic [1:0]             unstable_o,  // a response changed or went before it was taken
  output logic [9:0]             handshakes_o,  // valid and ready of AW, W, B, AR, R
  output logic [COUNT_W-1:0]     written_o,   // accesses whose response has come
  output logic [COUNT_W-1:0]     read_o,
  output logic [OPS*READ_W-1:0]  write_answers_o,
  output logic [OPS*WRITE_W-1:0] read_answers_o,

  input  logic irq_i,

  output logic [ADDR_W-1:0] m_axil_awaddr,
  output logic [2:0]        m_axil_awprot,
  output logic              m_axil_awvalid,
  input  logic              m_axil_awready,
  output logic [DATA_W-1:0] m_axil_wdata,
  output logic [STRB_W-1:0] m_axil_wstrb,
  output logic              m_axil_wvalid,
  input  logic              m_axil_wready,
  input  logic [1:0]        m_axil_bresp,
  input  logic              m_axil_bvalid,
  output logic              m_axil_bready,
  output logic [ADDR_W-1:0] m_axil_araddr,
  output logic [2:0]        m_axil_arprot,
  output logic              m_axil_arvalid,
  input  logic              m_axil_arready,
  input  logic [DATA_W-1:0] m_axil_rdata,
  input  logic [1:0]        m_axil_rresp,
  input  logic              m_axil_rvalid,
  output logic              m_axil_rready
);

  localparam int W_ADDRESS = 32;
  localparam int W_STRB = 44;
  localparam int W_AW = 48;
  localparam int W_W = 52;
  localparam int W_B = 56;
  localparam int R_AR = 12;
  localparam int R_R = 16;

  logic active_q;
  logic [STAMP_W-1:0] now_q, quiet_q;
  logic [COUNT_W-1:0] aw_q, w_q, b_q, ar_q, r_q;
  logic [DELAY_W-1:0] aw_wait_q, w_wait_q, b_wait_q, ar_wait_q, r_wait_q;
  logic b_held_q, r_held_q;
  logic [1:0] bresp_q, rresp_q;
  logic [DATA_W-1:0] rdata_q;

  logic [WRITE_W-1:0] aw_op, w_op, b_op;
  logic [READ_W-1:0] ar_op, r_op;
  assign aw_op = write_ops_i[WRITE_W*aw_q[INDEX_W-1:0]+:WRITE_W];
  assign w_op = write_ops_i[WRITE_W*w_q[INDEX_W-1:0]+:WRITE_W];
  assign b_op = write_ops_i[WRITE_W*b_q[INDEX_W-1:0]+:WRITE_W];
  assign ar_op = read_ops_i[READ_W*ar_q[INDEX_W-1:0]+:READ_W];
  assign r_op = read_ops_i[READ_W*r_q[INDEX_W-1:0]+:READ_W];

  assign m_axil_awprot = 3'b010;
  assign m_axil_arprot = 3'b010;
  assign m_axil_awaddr = aw_op[W_ADDRESS+:ADDR_W];
  assign m_axil_awvalid = active_q && aw_q < writes_i && aw_wait_q >= aw_op[W_AW+:DELAY_W];
  assign m_axil_wdata = w_op[DATA_W-1:0];
  assign m_axil_wstrb = w_op[W_STRB+:STRB_W];
  assign m_axil_wvalid = active_q && w_q < writes_i && w_wait_q >= w_op[W_W+:DELAY_W];
  assign m_axil_bready = active_q && b_wait_q >= b_op[W_B+:DELAY_W];
  assign m_axil_araddr = ar_op[ADDR_W-1:0];
  assign m_axil_arvalid = active_q && ar_q < reads_i && ar_wait_q >= ar_op[R_AR+:DELAY_W];
  assign m_axil_rready = active_q && r_wait_q >= r_op[R_R+:DELAY_W];

  logic aw, w, b, ar, r, over, resets;
  assign aw = m_axil_awvalid && m_axil_awready;
  assign w = m_axil_wvalid && m_axil_wready;
  assign b = m_axil_bvalid && m_axil_bready;
  assign ar = m_axil_arvalid && m_axil_arready;
  assign r = m_axil_rvalid && m_axil_rready;
  assign handshakes_o = {m_axil_awvalid, m_axil_awready, m_axil_wvalid, m_axil_wready,
                         m_axil_bvalid, m_axil_bready, m_axil_arvalid, m_axil_arready,
                         m_axil_rvalid, m_axil_rready};
  assign resets = active_q && reset_i && now_q == reset_cycle_i;
  assign over = b_q == writes_i && r_q == reads_i && quiet_q == STAMP_W'(TAIL);
  assign written_o = b_q + COUNT_W'(b_held_q);
  assign read_o = r_q + COUNT_W'(r_held_q);

  logic reset_q;
  assign rst_no = !(resets || reset_q);

  always_ff @(posedge clk_i) begin
    reset_q <= rst_ni && resets;
    if (!rst_ni) begin
      active_q <= 1'b0;
      done_o <= start_i;
    end else if (!active_q) begin
      if (start_i != done_o && !reset_q) begin
        active_q <= 1'b1;
        now_q <= '0;
        quiet_q <= '0;
        aw_q <= '0;
        w_q <= '0;
        b_q <= '0;
        ar_q <= '0;
        r_q <= '0;
        aw_wait_q <= '0;
        w_wait_q <= '0;
        b_wait_q <= '0;
        ar_wait_q <= '0;
        r_wait_q <= '0;
        b_held_q <= 1'b0;
        r_held_q <= 1'b0;
        hung_o <= 1'b0;
        extra_o <= '0;
        unstable_o <= '0;
      end
    end else begin
      now_q <= now_q + 1'b1;
      quiet_q <= aw || w || b || ar || r ? '0 : quiet_q + 1'b1;
      aw_q <= aw_q + COUNT_W'(aw);
      w_q <= w_q + COUNT_W'(w);
      b_q <= b_q + COUNT_W'(b);
      ar_q <= ar_q + COUNT_W'(ar);
      r_q <= r_q + COUNT_W'(r);
      aw_wait_q <= aw ? '0 : aw_wait_q + DELAY_W'(!m_axil_awvalid);
      w_wait_q <= w ? '0 : w_wait_q + DELAY_W'(!m_axil_wvalid);
      b_wait_q <= b ? '0 : b_wait_q + DELAY_W'(m_axil_bvalid && !m_axil_bready);
      ar_wait_q <= ar ? '0 : ar_wait_q + DELAY_W'(!m_axil_arvalid);
      r_wait_q <= r ? '0 : r_wait_q + DELAY_W'(m_axil_rvalid && !m_axil_rready);

      // A response needs a request that was taken before, and stands until it is taken.
      extra_o[0] <= extra_o[0] || (m_axil_bvalid && (b_q == aw_q || b_q == w_q));
      extra_o[1] <= extra_o[1] || (m_axil_rvalid && r_q == ar_q);
      unstable_o[0] <= unstable_o[0] ||
                       (b_held_q && (!m_axil_bvalid || m_axil_bresp != bresp_q));
      unstable_o[1] <= unstable_o[1] ||
                       (r_held_q && (!m_axil_rvalid || m_axil_rresp != rresp_q ||
                                     m_axil_rdata != rdata_q));
      b_held_q <= m_axil_bvalid && !b;
      r_held_q <= m_axil_rvalid && !r;
      bresp_q <= m_axil_bresp;
      rresp_q <= m_axil_rresp;
      rdata_q <= m_axil_rdata;
      if (m_axil_bvalid && !b_held_q && b_q < writes_i) begin
        write_answers_o[READ_W*b_q[INDEX_W-1:0]+:READ_W] <= {now_q, 5'b0, irq_i, m_axil_bresp};
      end
      if (m_axil_rvalid && !r_held_q && r_q < reads_i) begin
        read_answers_o[WRITE_W*r_q[INDEX_W-1:0]+:WRITE_W] <=
            {now_q, 5'b0, irq_i, m_axil_rresp, m_axil_rdata};
      end
      if (over || resets || extra_o != '0 || quiet_q == STAMP_W'(LIMIT)) begin
        active_q <= 1'b0;
        done_o <= start_i;
        hung_o <= !over && !resets && extra_o == '0;
      end
    end
  end

endmodule
