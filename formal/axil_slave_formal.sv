// axil_slave: the rules of AXI4-Lite, and what it does between bus and registers. Each write that
// was taken becomes one access, in order, with the address, data and strobes that came with it, its
// response the registers' answer to it; likewise each read. With SETUP, an access comes after SETUP
// cycles in which its address and data stood and no other access or change was.
//
// Any registers: their answers are free in every step.

module axil_slave_formal #(
  parameter int SETUP = 0,
  localparam int ADDR_W = 5,
  localparam int WORD_W = ADDR_W - 2,
  localparam int DATA_W = 32,
  localparam int STRB_W = 4
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              changing_i,
  input logic [ADDR_W-1:0] awaddr_i,
  input logic [2:0]        prot_i,
  input logic              awvalid_i,
  input logic [DATA_W-1:0] wdata_i,
  input logic [STRB_W-1:0] wstrb_i,
  input logic              wvalid_i,
  input logic              bready_i,
  input logic [ADDR_W-1:0] araddr_i,
  input logic              arvalid_i,
  input logic              rready_i,
  input logic              write_error_i,
  input logic [DATA_W-1:0] read_data_i,
  input logic              read_error_i
);

  logic awready, wready, bvalid, arready, rvalid, write, read;
  logic [1:0] bresp, rresp;
  logic [DATA_W-1:0] rdata, write_data;
  logic [WORD_W-1:0] write_addr, read_addr;
  logic [STRB_W-1:0] write_strb;
  logic [2:0] aw_count, w_count, ar_count;

  axil_slave #(.ADDR_W(ADDR_W), .SETUP(SETUP)) u_dut (
    .clk_i,
    .rst_ni,
    .changing_i,
    .s_axil_awaddr(awaddr_i),
    .s_axil_awprot(prot_i),
    .s_axil_awvalid(awvalid_i),
    .s_axil_awready(awready),
    .s_axil_wdata(wdata_i),
    .s_axil_wstrb(wstrb_i),
    .s_axil_wvalid(wvalid_i),
    .s_axil_wready(wready),
    .s_axil_bresp(bresp),
    .s_axil_bvalid(bvalid),
    .s_axil_bready(bready_i),
    .s_axil_araddr(araddr_i),
    .s_axil_arprot(prot_i),
    .s_axil_arvalid(arvalid_i),
    .s_axil_arready(arready),
    .s_axil_rdata(rdata),
    .s_axil_rresp(rresp),
    .s_axil_rvalid(rvalid),
    .s_axil_rready(rready_i),
    .write_o(write),
    .write_addr_o(write_addr),
    .write_data_o(write_data),
    .write_strb_o(write_strb),
    .write_error_i,
    .read_o(read),
    .read_addr_o(read_addr),
    .read_data_i,
    .read_error_i
  );

  axil_rules #(.ADDR_W(ADDR_W), .BOUND(2 * SETUP + 2)) u_rules (
    .clk_i, .rst_ni, .changing_i(SETUP > 0 && changing_i),
    .awaddr_i, .awvalid_i, .awready_i(awready), .wdata_i, .wstrb_i, .wvalid_i,
    .wready_i(wready), .bresp_i(bresp), .bvalid_i(bvalid), .bready_i, .araddr_i, .arvalid_i,
    .arready_i(arready), .rdata_i(rdata), .rresp_i(rresp), .rvalid_i(rvalid), .rready_i,
    .aw_count_o(aw_count), .w_count_o(w_count), .ar_count_o(ar_count)
  );

  // ---------------------------------------------------------------------------------------------
  // What was taken and has no access yet, and the answers to accesses
  // ---------------------------------------------------------------------------------------------
  localparam int QUIET_W = 4;

  logic later_q = 1'b0;
  logic aw_q, w_q, ar_q, b_q, r_q;
  logic [WORD_W-1:0] awaddr_q, araddr_q;
  logic [DATA_W-1:0] wdata_q, rdata_q;
  logic [STRB_W-1:0] wstrb_q;
  logic [1:0] bresp_q, rresp_q;
  logic [QUIET_W-1:0] write_quiet_q, read_quiet_q;  // cycles that all has stood, no access in them

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    if (awvalid_i && awready) begin
      awaddr_q <= awaddr_i[ADDR_W-1:2];
    end
    if (wvalid_i && wready) begin
      wdata_q <= wdata_i;
      wstrb_q <= wstrb_i;
    end
    if (arvalid_i && arready) begin
      araddr_q <= araddr_i[ADDR_W-1:2];
    end
    if (write) begin
      bresp_q <= {write_error_i, 1'b0};
    end
    if (read) begin
      rdata_q <= read_error_i ? '0 : read_data_i;
      rresp_q <= {read_error_i, 1'b0};
    end
    aw_q <= rst_ni && ((awvalid_i && awready) || (aw_q && !write));
    w_q <= rst_ni && ((wvalid_i && wready) || (w_q && !write));
    ar_q <= rst_ni && ((arvalid_i && arready) || (ar_q && !read));
    b_q <= rst_ni && (write || (b_q && !bready_i));
    r_q <= rst_ni && (read || (r_q && !rready_i));
    write_quiet_q <= !rst_ni || !aw_q || !w_q || write || read || changing_i ? '0
                     : write_quiet_q == '1 ? '1 : write_quiet_q + 1'b1;
    read_quiet_q <= !rst_ni || !ar_q || write || read || changing_i ? '0
                    : read_quiet_q == '1 ? '1 : read_quiet_q + 1'b1;
  end

  always_comb begin
    if (later_q && rst_ni) begin
      write_for_request: assert (!write || (aw_q && w_q));
      write_address: assert (!write || write_addr == awaddr_q);
      write_payload: assert (!write || (write_data == wdata_q && write_strb == wstrb_q));
      write_keeps_response: assert (!write || !b_q || bready_i);
      aw_not_overwritten: assert (!(awvalid_i && awready) || !aw_q || write);
      w_not_overwritten: assert (!(wvalid_i && wready) || !w_q || write);
      b_answers_write: assert (bvalid == b_q && (!b_q || bresp == bresp_q));
      read_for_request: assert (!read || ar_q);
      read_address: assert (!read || read_addr == araddr_q);
      read_keeps_response: assert (!read || !r_q || rready_i);
      ar_not_overwritten: assert (!(arvalid_i && arready) || !ar_q || read);
      r_answers_read: assert (rvalid == r_q && (!r_q || (rresp == rresp_q && rdata == rdata_q)));
      write_set_up: assert (!write || write_quiet_q >= QUIET_W'(SETUP));
      read_set_up: assert (!read || read_quiet_q >= QUIET_W'(SETUP));
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Lemmas of the induction: how what is open lies in the slave's registers
  // ---------------------------------------------------------------------------------------------
  always_comb begin
    if (later_q) begin
      lemma_full: assert (aw_q == u_dut.aw_full_q && w_q == u_dut.w_full_q &&
                          ar_q == u_dut.ar_full_q);
      lemma_pending: assert ((!aw_q || u_dut.write_addr_q == awaddr_q) &&
                             (!w_q || (u_dut.write_data_q == wdata_q &&
                                       u_dut.write_strb_q == wstrb_q)) &&
                             (!ar_q || u_dut.read_addr_q == araddr_q));
      lemma_answers: assert (u_dut.bvalid_q == b_q && u_dut.rvalid_q == r_q);
      lemma_counts: assert (aw_count == 3'(aw_q) + 3'(b_q) && w_count == 3'(w_q) + 3'(b_q) &&
                            ar_count == 3'(ar_q) + 3'(r_q));
    end
  end

  if (SETUP > 0) begin : gen_set_up
    always_comb begin
      if (later_q) begin
        lemma_counted: assert (write_quiet_q >= QUIET_W'(u_dut.gen_set_up.write_count_q) &&
                               read_quiet_q >= QUIET_W'(u_dut.gen_set_up.read_count_q));
        lemma_in_range: assert (32'(u_dut.gen_set_up.write_count_q) < SETUP &&
                                32'(u_dut.gen_set_up.read_count_q) < SETUP);
        lemma_access: assert ((!write || (aw_q && w_q && !b_q)) && (!read || (ar_q && !r_q)));
      end
    end
  end

endmodule
