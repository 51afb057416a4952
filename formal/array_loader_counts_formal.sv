// array_loader: a run takes as many calls as it is told, for every number of 32 bits; what no
// simulation counts to. By induction, from any state that the lemmas allow.

module array_loader_counts_formal #(
  localparam int W = 4,
  localparam int CONTEXTS = 1,
  localparam int DATAPATHS = 2,
  localparam int IN_DEPTH = 2,
  localparam int FUNCTIONS = 2,
  localparam int COUNT_W = 32
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               start_i,
  input logic [COUNT_W-1:0] calls_i,
  input logic               function_store_i,
  input logic               function_number_i,
  input logic [1:0]         function_inputs_i,
  input logic [COUNT_W-1:0] tdata_i,
  input logic               tuser_i,
  input logic               tlast_i,
  input logic               tvalid_i,
  input logic               batch_take_i,
  input logic               released_i
);

  logic finished, tready;
  logic [COUNT_W-1:0] taken, dropped;

  array_loader #(
    .W(W), .CONTEXTS(CONTEXTS), .DATAPATHS(DATAPATHS), .IN_DEPTH(IN_DEPTH), .FUNCTIONS(FUNCTIONS)
  ) u_dut (
    .clk_i, .rst_ni, .clear_i(!rst_ni), .start_i, .calls_i, .finished_o(finished),
    .taken_o(taken), .dropped_o(dropped), .function_store_i, .function_number_i,
    .function_inputs_i, .s_axis_tdata(tdata_i), .s_axis_tuser(tuser_i), .s_axis_tlast(tlast_i),
    .s_axis_tvalid(tvalid_i), .s_axis_tready(tready), .write_o(), .write_datapath_o(),
    .write_address_o(), .write_data_o(), .batch_valid_o(), .batch_half_o(), .batch_function_o(),
    .batch_count_o(), .batch_take_i, .released_i
  );

  logic later_q = 1'b0;
  logic running_q, was_call_q, was_drop_q;
  logic [COUNT_W-1:0] calls_q, was_taken_q, was_dropped_q;

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    was_call_q <= tvalid_i && tready && tlast_i;
    was_drop_q <= u_dut.malformed_q;
    was_taken_q <= taken;
    was_dropped_q <= dropped;
    if (!rst_ni || start_i) begin
      running_q <= rst_ni;
      calls_q <= calls_i;
      was_call_q <= 1'b0;
      was_drop_q <= 1'b0;
      was_taken_q <= '0;
      was_dropped_q <= '0;
    end
  end

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
    end else begin
      assume (rst_ni);
    end
    assume (!start_i || calls_i != '0);
    if (later_q) begin
      lemma_calls: assert (!running_q || calls_q != '0);
      lemma_open: assert (!u_dut.open_q || (running_q && u_dut.calls_left_q != '0 &&
                          u_dut.calls_left_q <= calls_q && u_dut.calls_left_q + taken == calls_q &&
                          u_dut.last_call_q == (u_dut.calls_left_q == 1)));
      lemma_closed: assert (u_dut.open_q || !running_q || taken == calls_q);
      lemma_spare: assert (!running_q || !u_dut.spare_valid_q || u_dut.beat_valid_q);
      no_more_calls: assert (!tready || (running_q && taken < calls_q));
      all_calls: assert (tready || !running_q || taken == calls_q || u_dut.beat_valid_q);
      calls_counted: assert (!running_q || taken == was_taken_q + COUNT_W'(was_call_q));
      drops_counted: assert (!running_q || dropped == was_dropped_q + COUNT_W'(was_drop_q));
    end
  end

endmodule
