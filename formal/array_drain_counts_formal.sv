// array_drain: the calls whose results are given are counted, all of them since the start, for every
// number of 32 bits; what no simulation counts to. From any state, cleared or not.

module array_drain_counts_formal #(
  localparam int W = 4,
  localparam int CONTEXTS = 1,
  localparam int DATAPATHS = 2,
  localparam int OUT_DEPTH = 2,
  localparam int FUNCTIONS = 2,
  localparam int COUNT_W = 32,
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS)
) (
  input logic              clk_i,
  input logic              clear_i,
  input logic              start_i,
  input logic              function_store_i,
  input logic              function_number_i,
  input logic [1:0]        function_outputs_i,
  input logic              take_i,
  input logic              take_half_i,
  input logic              take_function_i,
  input logic [LIVE_W-1:0] take_count_i,
  input logic              emitted_i,
  input logic              emitted_half_i,
  input logic [W-1:0]      read_data_i,
  input logic              read_fault_i,
  input logic              tready_i
);

  logic tvalid, tlast;
  logic [COUNT_W-1:0] given;

  array_drain #(
    .W(W), .CONTEXTS(CONTEXTS), .DATAPATHS(DATAPATHS), .OUT_DEPTH(OUT_DEPTH),
    .FUNCTIONS(FUNCTIONS)
  ) u_dut (
    .clk_i, .clear_i, .start_i, .finished_o(), .given_o(given), .function_store_i,
    .function_number_i, .function_outputs_i, .free_o(), .take_i, .take_half_i, .take_function_i,
    .take_count_i, .emitted_i, .emitted_half_i, .read_datapath_o(), .read_address_o(),
    .read_data_i, .read_fault_i, .m_axis_tdata(), .m_axis_tuser(), .m_axis_tlast(tlast),
    .m_axis_tvalid(tvalid), .m_axis_tready(tready_i)
  );

  logic later_q = 1'b0;
  logic counted_q;
  logic [COUNT_W-1:0] was_q;

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    counted_q <= !clear_i && !start_i && tvalid && tready_i && tlast;
    was_q <= clear_i || start_i ? '0 : given;
  end

  always_comb begin
    if (later_q) begin
      given_counted: assert (given == was_q + COUNT_W'(counted_q));
    end
  end

endmodule
