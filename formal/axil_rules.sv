// AXI4-Lite rules between a master and a slave: what the master keeps to is assumed, what the slave
// must keep to is asserted. Instantiated by the harnesses of everything that has such a bus.
//
// Master: silent while reset; valid and payload stand until ready. It may be reset at any time, in
// the first step it is; it may keep any number of responses waiting for ever.
// Slave, for each direction: a response only for a request that was taken and has none yet; at most
// OUTSTANDING requests without response; a response stands, unchanged, until it is taken; within
// BOUND cycles in which nothing else is in its way a request is taken, and answered. What has to
// stand before an access may change (`changing_i`): the cycles count from there.

module axil_rules #(
  parameter int ADDR_W = 12,
  parameter int BOUND = 4,
  localparam int DATA_W = 32,
  localparam int STRB_W = 4,
  localparam int OUTSTANDING = 2,
  localparam int COUNT_W = 3,
  localparam int WAIT_W = 6
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              changing_i,
  input logic [ADDR_W-1:0] awaddr_i,
  input logic              awvalid_i,
  input logic              awready_i,
  input logic [DATA_W-1:0] wdata_i,
  input logic [STRB_W-1:0] wstrb_i,
  input logic              wvalid_i,
  input logic              wready_i,
  input logic [1:0]        bresp_i,
  input logic              bvalid_i,
  input logic              bready_i,
  input logic [ADDR_W-1:0] araddr_i,
  input logic              arvalid_i,
  input logic              arready_i,
  input logic [DATA_W-1:0] rdata_i,
  input logic [1:0]        rresp_i,
  input logic              rvalid_i,
  input logic              rready_i,

  // requests taken and not yet answered
  output logic [COUNT_W-1:0] aw_count_o,
  output logic [COUNT_W-1:0] w_count_o,
  output logic [COUNT_W-1:0] ar_count_o
);

  localparam logic [1:0] OKAY = 2'b00;
  localparam logic [1:0] SLVERR = 2'b10;

  // ---------------------------------------------------------------------------------------------
  // The master
  // ---------------------------------------------------------------------------------------------
  logic later_q = 1'b0;  // not the first step
  logic aw_waits_q, w_waits_q, ar_waits_q;
  logic [ADDR_W-1:0] awaddr_q, araddr_q;
  logic [DATA_W-1:0] wdata_q;
  logic [STRB_W-1:0] wstrb_q;

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    aw_waits_q <= rst_ni && awvalid_i && !awready_i;
    w_waits_q <= rst_ni && wvalid_i && !wready_i;
    ar_waits_q <= rst_ni && arvalid_i && !arready_i;
    awaddr_q <= awaddr_i;
    araddr_q <= araddr_i;
    wdata_q <= wdata_i;
    wstrb_q <= wstrb_i;
  end

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
    end
    if (!rst_ni) begin
      assume (!awvalid_i && !wvalid_i && !arvalid_i);
    end else if (later_q) begin
      assume (!aw_waits_q || (awvalid_i && awaddr_i == awaddr_q));
      assume (!w_waits_q || (wvalid_i && wdata_i == wdata_q && wstrb_i == wstrb_q));
      assume (!ar_waits_q || (arvalid_i && araddr_i == araddr_q));
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The slave: what is open
  // ---------------------------------------------------------------------------------------------
  logic [COUNT_W-1:0] aw_count_q, w_count_q, ar_count_q;
  logic [WAIT_W-1:0] b_wait_q, r_wait_q, aw_wait_q, w_wait_q, ar_wait_q;
  logic b_taken, r_taken;
  assign b_taken = bvalid_i && bready_i;
  assign r_taken = rvalid_i && rready_i;
  assign aw_count_o = aw_count_q;
  assign w_count_o = w_count_q;
  assign ar_count_o = ar_count_q;

  function automatic logic [WAIT_W-1:0] waited(input logic waits, input logic [WAIT_W-1:0] count);
    return !waits ? '0 : count == '1 ? count : count + 1'b1;
  endfunction

  // A channel may wait for its partner, and for a response that is not taken.
  logic counts, b_blocks, r_blocks, aw_there, w_there;
  assign counts = rst_ni && !changing_i;
  assign b_blocks = bvalid_i && !bready_i;
  assign r_blocks = rvalid_i && !rready_i;
  assign aw_there = awvalid_i || aw_count_q > COUNT_W'(bvalid_i);
  assign w_there = wvalid_i || w_count_q > COUNT_W'(bvalid_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_count_q <= '0;
      w_count_q <= '0;
      ar_count_q <= '0;
    end else begin
      aw_count_q <= aw_count_q + COUNT_W'(awvalid_i && awready_i) - COUNT_W'(b_taken);
      w_count_q <= w_count_q + COUNT_W'(wvalid_i && wready_i) - COUNT_W'(b_taken);
      ar_count_q <= ar_count_q + COUNT_W'(arvalid_i && arready_i) - COUNT_W'(r_taken);
    end
    b_wait_q <= waited(counts && aw_count_q != '0 && w_count_q != '0 && !bvalid_i, b_wait_q);
    r_wait_q <= waited(counts && ar_count_q != '0 && !rvalid_i, r_wait_q);
    aw_wait_q <= waited(counts && awvalid_i && !awready_i && w_there && !b_blocks, aw_wait_q);
    w_wait_q <= waited(counts && wvalid_i && !wready_i && aw_there && !b_blocks, w_wait_q);
    ar_wait_q <= waited(counts && arvalid_i && !arready_i && !r_blocks, ar_wait_q);
    if (!later_q) begin
      b_wait_q <= '0;
      r_wait_q <= '0;
      aw_wait_q <= '0;
      w_wait_q <= '0;
      ar_wait_q <= '0;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The slave: what it must keep to
  // ---------------------------------------------------------------------------------------------
  logic b_stands_q, r_stands_q, was_reset_q;
  logic [1:0] bresp_q, rresp_q;
  logic [DATA_W-1:0] rdata_q;

  always_ff @(posedge clk_i) begin
    was_reset_q <= !rst_ni;
    b_stands_q <= rst_ni && b_blocks;
    r_stands_q <= rst_ni && r_blocks;
    bresp_q <= bresp_i;
    rresp_q <= rresp_i;
    rdata_q <= rdata_i;
  end

  always_comb begin
    if (later_q) begin
      silent_after_reset: assert (!was_reset_q || (!bvalid_i && !rvalid_i));
      b_stable: assert (!b_stands_q || (bvalid_i && bresp_i == bresp_q));
      r_stable: assert (!r_stands_q ||
                        (rvalid_i && rresp_i == rresp_q && rdata_i == rdata_q));
      b_code: assert (!bvalid_i || bresp_i == OKAY || bresp_i == SLVERR);
      r_code: assert (!rvalid_i || rresp_i == OKAY || rresp_i == SLVERR);
      b_not_invented: assert (!bvalid_i || (aw_count_q != '0 && w_count_q != '0));
      r_not_invented: assert (!rvalid_i || ar_count_q != '0);
      aw_limited: assert (aw_count_q <= COUNT_W'(OUTSTANDING));
      w_limited: assert (w_count_q <= COUNT_W'(OUTSTANDING));
      ar_limited: assert (ar_count_q <= COUNT_W'(OUTSTANDING));
      b_not_lost: assert (b_wait_q <= WAIT_W'(BOUND));
      r_not_lost: assert (r_wait_q <= WAIT_W'(BOUND));
      aw_taken: assert (aw_wait_q <= WAIT_W'(BOUND));
      w_taken: assert (w_wait_q <= WAIT_W'(BOUND));
      ar_taken: assert (ar_wait_q <= WAIT_W'(BOUND));
    end
  end

endmodule
