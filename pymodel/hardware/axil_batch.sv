// Bus master of the benches: does a batch of AXI4-Lite accesses on its own, so that Python waits
// once a batch instead of once a word.
//
// A batch begins when `start_i` changes and is over when `done_o` equals it. It is `count_i`
// operations of 64 bits in `ops_i`, the first one lowest:
//
//   63    51   50    49    48  47      32 31           0
//   [ 0 ... | poll | last | write | address |    data    ]     data: to write, or a poll's mask
//
// Those up to one with `last` are a group, all of one direction. Their requests follow each other
// without a pause; the next group's begin two cycles after this group's last response, as those of
// a program that waits for it.
//
// An answer has 64 bits in `answers_o`, at its operation's place; the cycle counts from the start:
//
//   63     40 39    34 33    32 31           0
//   [ cycle  |  0 ..  | response |    data    ]
//
// A poll that takes more than `poll_cycles_i` ends the batch, and so does a response that does not
// come, or that comes before its request was taken: `hung_o`, and for the last `early_o`. Unless it
// was a poll `active_o` stays: the bus is of no more use.
//
// Latency: the first request is valid in the cycle after the start, `done_o` changes in the cycle
// after the last response. Throughput: that of the bus.

module axil_batch #(
  parameter int ADDR_W = 12,
  parameter int OPS = 64,
  localparam int OP_W = 64,
  localparam int COUNT_W = $clog2(OPS + 1),
  localparam int DATA_W = 32,
  localparam int STRB_W = 4,
  localparam int STAMP_W = 24,
  localparam int ACCESS_CYCLES = 600
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic                start_i,
  input  logic [COUNT_W-1:0]  count_i,
  input  logic [STAMP_W-1:0]  poll_cycles_i,
  input  logic [OPS*OP_W-1:0] ops_i,
  output logic                done_o,
  output logic                active_o,   // the bus is this master's
  output logic                hung_o,
  output logic                early_o,
  output logic                error_o,    // a response was not OKAY
  output logic [COUNT_W-1:0]  answered_o,
  output logic [STAMP_W-1:0]  polls_o,    // reads that polls have made
  output logic [OPS*OP_W-1:0] answers_o,

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

  localparam int ADDRESS_AT = 32;
  localparam int WRITE_AT = 48;
  localparam int LAST_AT = 49;
  localparam int POLL_AT = 50;
  localparam logic [2:0] NONSECURE = 3'b010;

  // Which operation's address, data and response are next; whether the first two are offered.
  logic [COUNT_W-1:0] address_q, data_q, answer_q;
  logic address_valid_q, data_valid_q, gap_q;
  logic [STAMP_W-1:0] stamp_q, waited_q, limit;

  logic [OP_W-1:0] address_op, data_op, answer_op;
  assign address_op = ops_i[OP_W*address_q +: OP_W];
  assign data_op = ops_i[OP_W*data_q +: OP_W];
  assign answer_op = ops_i[OP_W*answer_q +: OP_W];

  assign m_axil_awaddr = address_op[ADDRESS_AT +: ADDR_W];
  assign m_axil_awprot = NONSECURE;
  assign m_axil_awvalid = address_valid_q && address_op[WRITE_AT];
  assign m_axil_wdata = data_op[DATA_W-1:0];
  assign m_axil_wstrb = '1;
  assign m_axil_wvalid = data_valid_q && data_op[WRITE_AT];
  assign m_axil_bready = active_o;
  assign m_axil_araddr = address_op[ADDRESS_AT +: ADDR_W];
  assign m_axil_arprot = NONSECURE;
  assign m_axil_arvalid = address_valid_q && !address_op[WRITE_AT];
  assign m_axil_rready = active_o;

  logic valid, taken, answered, early, repeats, late, failed, ends;
  logic [1:0] response;
  logic [DATA_W-1:0] word;
  assign valid = (answer_op[WRITE_AT] ? m_axil_bvalid : m_axil_rvalid) === 1'b1;  // not unknown
  assign taken = address_q != answer_q && data_q != answer_q;
  assign answered = valid && taken;
  assign early = valid && !taken;
  assign response = answer_op[WRITE_AT] ? m_axil_bresp : m_axil_rresp;
  assign word = answer_op[WRITE_AT] ? '0 : m_axil_rdata;
  assign failed = error_o || response !== 2'b00;
  assign repeats = answer_op[POLL_AT] && !failed &&
                   ((word & answer_op[DATA_W-1:0]) != '0) === 1'b1;  // unknown bits end it
  assign late = repeats && waited_q >= poll_cycles_i;
  assign ends = answered && answer_op[LAST_AT] &&
                (late || (!repeats && (failed || answer_q + 1'b1 == count_i)));

  assign limit = STAMP_W'(ACCESS_CYCLES) + (answer_op[POLL_AT] ? poll_cycles_i : '0);

  assign answered_o = answer_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_o <= 1'b0;
      done_o <= start_i;
      address_valid_q <= 1'b0;
      data_valid_q <= 1'b0;
    end else if (!active_o) begin
      if (start_i != done_o) begin
        active_o <= 1'b1;
        address_q <= '0;
        data_q <= '0;
        answer_q <= '0;
        address_valid_q <= 1'b1;
        data_valid_q <= 1'b1;
        gap_q <= 1'b0;
        hung_o <= 1'b0;
        early_o <= 1'b0;
        error_o <= 1'b0;
        polls_o <= '0;
        stamp_q <= '0;
        waited_q <= '0;
      end
    end else begin
      stamp_q <= stamp_q + 1'b1;
      waited_q <= answered && !repeats ? '0 : waited_q + 1'b1;
      if (address_valid_q && (address_op[WRITE_AT] ? m_axil_awready : m_axil_arready)) begin
        address_valid_q <= !address_op[LAST_AT];
        address_q <= address_q + 1'b1;
      end
      if (data_valid_q && (!data_op[WRITE_AT] || m_axil_wready)) begin
        data_valid_q <= !data_op[LAST_AT];
        data_q <= data_q + 1'b1;
      end
      if (gap_q) begin
        gap_q <= 1'b0;
        address_valid_q <= 1'b1;
        data_valid_q <= 1'b1;
      end
      if (answered) begin
        answers_o[OP_W*answer_q +: OP_W] <= {stamp_q, 6'b0, response, word};
        error_o <= failed;
        polls_o <= polls_o + STAMP_W'(answer_op[POLL_AT]);
        gap_q <= answer_op[LAST_AT];
        if (repeats) begin
          address_q <= answer_q;
          data_q <= answer_q;
        end else begin
          answer_q <= answer_q + 1'b1;
        end
      end
      if (ends) begin
        active_o <= 1'b0;
        hung_o <= hung_o || late;
        done_o <= start_i;
      end else if ((early || waited_q == limit) && !hung_o) begin
        hung_o <= 1'b1;
        early_o <= early;
        done_o <= start_i;
      end
    end
  end

endmodule
