// AXI4-Lite slave: turns the five channels into single-cycle register accesses.
//
// A write happens (`write_o` high for one cycle, with address, data and strobes) once address and
// data have both arrived, in either order; a read once its address has arrived. The register block
// answers combinationally in that cycle: `write_error_i`, `read_data_i`, `read_error_i`. An error
// becomes SLVERR. A waiting response holds back the next access of its direction only.
//
// Before an access, address and data stand for SETUP cycles in which there is none of the other
// direction either: what the register block computes of them may pass so many registers. A cycle
// with `changing_i` counts as an access: something else has changed what is computed.
//
// Addresses are word addresses (the two low bits of a byte address are ignored, as the strobes
// select bytes). `prot` is ignored.
//
// Whether there is an address, data or a response does not depend on one register (axil_held), and
// an access happens only where it is due: no flip of one register loses a response or makes one.
//
// Latency: 1 + SETUP cycles from the last of AW, W (or AR) to the access, response valid 1 cycle
// after it. Throughput: one write and one read every 1 + SETUP cycles.

module axil_slave #(
  parameter int ADDR_W = 12,
  parameter int SETUP = 0,
  localparam int DATA_W = 32,
  localparam int BYTE_W = 8,
  localparam int STRB_W = DATA_W / BYTE_W,
  localparam int BYTE_ADDR_W = $clog2(STRB_W),
  localparam int WORD_W = ADDR_W - BYTE_ADDR_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic changing_i,

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

  output logic              write_o,
  output logic [WORD_W-1:0] write_addr_o,
  output logic [DATA_W-1:0] write_data_o,
  output logic [STRB_W-1:0] write_strb_o,
  input  logic              write_error_i,
  output logic              read_o,
  output logic [WORD_W-1:0] read_addr_o,
  input  logic [DATA_W-1:0] read_data_i,
  input  logic              read_error_i
);

  localparam logic [1:0] OKAY = 2'b00;
  localparam logic [1:0] SLVERR = 2'b10;

  if (SETUP < 0) begin : gen_check_setup
    initial $fatal(1, "%m: SETUP must be at least 0, got %0d", SETUP);
  end
  if (WORD_W < 1) begin : gen_check_addr_w
    initial $fatal(1, "%m: ADDR_W must be at least %0d, got %0d", BYTE_ADDR_W + 1, ADDR_W);
  end

  logic unused;
  assign unused = &{1'b0, changing_i, s_axil_awprot, s_axil_arprot,
                    s_axil_awaddr[BYTE_ADDR_W-1:0], s_axil_araddr[BYTE_ADDR_W-1:0]};

  // ---------------------------------------------------------------------------------------------
  // When an access happens: once it is due, or SETUP cycles after it and all others
  // ---------------------------------------------------------------------------------------------
  logic write_due, read_due;
  logic aw_full_d, aw_full_q, w_full_d, w_full_q, bvalid_d, bvalid_q;
  logic ar_full_d, ar_full_q, rvalid_d, rvalid_q;

  if (SETUP == 0) begin : gen_at_once
    assign write_o = write_due;
    assign read_o = read_due;
  end else begin : gen_set_up
    localparam int COUNT_W = $clog2(SETUP + 1);
    localparam logic [COUNT_W-1:0] LAST = COUNT_W'(SETUP - 1);
    logic write_q, read_q, access;
    logic [COUNT_W-1:0] write_count_q, read_count_q;
    // With `write_q` the rest holds, unless `write_q` has flipped; likewise `read_q`.
    assign write_o = write_q && aw_full_q && w_full_q && !bvalid_q;
    assign read_o = read_q && ar_full_q && !rvalid_q;
    assign access = write_q || read_q || changing_i;

    always_ff @(posedge clk_i) begin
      write_q <= write_due && !access && write_count_q == LAST;
      read_q <= read_due && !access && read_count_q == LAST;
      if (!rst_ni) begin
        write_q <= 1'b0;
        read_q <= 1'b0;
      end
      if (!rst_ni || access) begin
        write_count_q <= '0;
        read_count_q <= '0;
      end else begin
        if (write_due && write_count_q != LAST) begin
          write_count_q <= write_count_q + 1'b1;
        end
        if (read_due && read_count_q != LAST) begin
          read_count_q <= read_count_q + 1'b1;
        end
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Write: AW and W each wait in a register of their own
  // ---------------------------------------------------------------------------------------------
  logic [1:0] bresp_q;
  logic [WORD_W-1:0] write_addr_q;
  logic [DATA_W-1:0] write_data_q;
  logic [STRB_W-1:0] write_strb_q;
  assign write_due = aw_full_q && w_full_q && (!bvalid_q || s_axil_bready);
  assign s_axil_awready = !aw_full_q || write_o;
  assign s_axil_wready = !w_full_q || write_o;
  assign s_axil_bvalid = bvalid_q;
  assign s_axil_bresp = bresp_q;
  assign write_addr_o = write_addr_q;
  assign write_data_o = write_data_q;
  assign write_strb_o = write_strb_q;

  always_ff @(posedge clk_i) begin
    if (s_axil_awvalid && s_axil_awready) begin
      write_addr_q <= s_axil_awaddr[ADDR_W-1:BYTE_ADDR_W];
    end
    if (s_axil_wvalid && s_axil_wready) begin
      write_data_q <= s_axil_wdata;
      write_strb_q <= s_axil_wstrb;
    end
    if (write_o) begin
      bresp_q <= write_error_i ? SLVERR : OKAY;
    end
  end

  always_comb begin
    if (!rst_ni) begin
      aw_full_d = 1'b0;
      w_full_d = 1'b0;
      bvalid_d = 1'b0;
    end else begin
      aw_full_d = s_axil_awvalid || (aw_full_q && !write_o);
      w_full_d = s_axil_wvalid || (w_full_q && !write_o);
      bvalid_d = write_o || (bvalid_q && !s_axil_bready);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Read
  // ---------------------------------------------------------------------------------------------
  logic [1:0] rresp_q;
  logic [WORD_W-1:0] read_addr_q;
  logic [DATA_W-1:0] rdata_q;
  assign read_due = ar_full_q && (!rvalid_q || s_axil_rready);
  assign s_axil_arready = !ar_full_q || read_o;
  assign s_axil_rvalid = rvalid_q;
  assign s_axil_rresp = rresp_q;
  assign s_axil_rdata = rdata_q;
  assign read_addr_o = read_addr_q;

  always_ff @(posedge clk_i) begin
    if (s_axil_arvalid && s_axil_arready) begin
      read_addr_q <= s_axil_araddr[ADDR_W-1:BYTE_ADDR_W];
    end
    if (read_o) begin
      rdata_q <= read_error_i ? '0 : read_data_i;
      rresp_q <= read_error_i ? SLVERR : OKAY;
    end
  end

  always_comb begin
    if (!rst_ni) begin
      ar_full_d = 1'b0;
      rvalid_d = 1'b0;
    end else begin
      ar_full_d = s_axil_arvalid || (ar_full_q && !read_o);
      rvalid_d = read_o || (rvalid_q && !s_axil_rready);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // What waits where
  // ---------------------------------------------------------------------------------------------
  localparam int HELD = 5;

  axil_held #(
    .W(HELD)
  ) u_held (
    .clk_i,
    .rst_ni,
    .data_i({aw_full_d, w_full_d, bvalid_d, ar_full_d, rvalid_d}),
    .data_o({aw_full_q, w_full_q, bvalid_q, ar_full_q, rvalid_q})
  );

endmodule
