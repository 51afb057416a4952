// array_loader: beats are taken only during a run and of no more calls than it has; every beat that
// is taken is written once, in order, at its place in the call, or it is of a function that is not
// stored or behind the function's inputs; a call is placed if it has the inputs of a stored
// function, no more and no fewer, in the system behind those of the calls before it; nothing is
// written into a half that is in use; the halves take turns; a batch is offered once, as the
// function of each of its calls, with all calls that were written, and not before it is complete;
// what nothing hinders moves on, to the end of the run.
//
// The sequencer takes a batch that is offered, and releases those that it took, in order. Beats and
// the table of functions are free. Bounded, from a start.

module array_loader_formal #(
  parameter int CONTEXTS = 1,
  parameter int DATAPATHS = 2,
  localparam int W = 4,
  localparam int IN_DEPTH = 2,
  localparam int FUNCTIONS = 2,
  localparam int DATA_W = 32,
  localparam int SYSTEMS = CONTEXTS * DATAPATHS,
  localparam int IN_W = step_pkg::index_w(IN_DEPTH),
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS),
  localparam int V_W = array_pkg::datapath_w(DATAPATHS),
  localparam int ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, IN_DEPTH)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              start_i,
  input logic [1:0]        calls_i,
  input logic              function_store_i,
  input logic              function_number_i,
  input logic [1:0]        function_inputs_i,
  input logic [DATA_W-1:0] tdata_i,
  input logic              tuser_i,
  input logic              tlast_i,
  input logic              tvalid_i,
  input logic              batch_take_i,
  input logic              released_i
);

  localparam int NUMBER_W = 5;
  localparam int MOST = IN_DEPTH + 1;  // beats of a call that are told apart: more are as many
  localparam int PLACE_W = 2;

  logic finished, tready, write, batch_valid, batch_half, batch_function;
  logic [DATA_W-1:0] taken, dropped;
  logic [V_W-1:0] write_datapath;
  logic [NUMBER_W-1:0] system;
  logic [ADDRESS_W-1:0] write_address;
  logic [W-1:0] write_data;
  logic [LIVE_W-1:0] batch_count;

  array_loader #(
    .W(W), .CONTEXTS(CONTEXTS), .DATAPATHS(DATAPATHS), .IN_DEPTH(IN_DEPTH), .FUNCTIONS(FUNCTIONS)
  ) u_dut (
    .clk_i, .rst_ni, .clear_i(!rst_ni), .start_i, .calls_i(DATA_W'(calls_i)),
    .finished_o(finished), .taken_o(taken), .dropped_o(dropped), .function_store_i,
    .function_number_i, .function_inputs_i, .s_axis_tdata(tdata_i), .s_axis_tuser(tuser_i),
    .s_axis_tlast(tlast_i), .s_axis_tvalid(tvalid_i), .s_axis_tready(tready), .write_o(write),
    .write_datapath_o(write_datapath), .write_address_o(write_address),
    .write_data_o(write_data), .batch_valid_o(batch_valid), .batch_half_o(batch_half),
    .batch_function_o(batch_function), .batch_count_o(batch_count), .batch_take_i, .released_i
  );

  // ---------------------------------------------------------------------------------------------
  // What was asked, taken, written, offered
  // ---------------------------------------------------------------------------------------------
  logic later_q = 1'b0;
  logic running_q, waits_q, tuser_q, tlast_q, take, consume, offered_q, offer_half_q;
  logic chosen_now, chosen_came_q, chosen_waits_q;  // waits: its call is placed, not taken
  logic [DATA_W-1:0] tdata_q;
  logic [1:0] calls_q, in_use_q;  // in use: from the taking to the release
  logic [1:0] running_batches_q;  // taken and not released
  logic [NUMBER_W-1:0] beats_q, consumed_q, ends_q, chosen_q, placed_q, run_calls_q, idle_q;
  logic [LIVE_W-1:0] offered_count_q;
  logic [1:0][NUMBER_W-1:0] half_calls_q;  // placed in each half, and not taken
  logic offer_function_q, half_now_q;  // half of the next offer
  logic write_half, write_half_q, any_written_q;  // half of the write, of the one before
  logic [LIVE_W-1:0] batch_calls, batch_calls_q;  // of the batch that was offered last
  logic batch_of, batch_of_q;
  logic [W-1:0] chosen_word_q;
  logic release_half_q;
  logic [FUNCTIONS-1:0] stored_q;  // the table
  logic [FUNCTIONS-1:0][PLACE_W-1:0] inputs_q;
  logic first_q, call_function_q, call_function;  // of the beat that is offered
  logic [PLACE_W-1:0] place_q, chosen_place_q;  // in its call
  logic is_input, chosen_is_input_q, chosen_ends_q;  // ends: a call that is right
  logic chosen_function_q, chosen_half_q, moves_not;
  assign call_function = first_q ? tuser_i : call_function_q;
  assign is_input = stored_q[call_function] && place_q < inputs_q[call_function];
  assign take = tvalid_i && tready;
  assign consume = u_dut.consume;
  assign chosen_now = consume && consumed_q == chosen_q;
  assign write_half = write_address[ADDRESS_W-1];
  assign batch_calls = batch_valid ? batch_count : batch_calls_q;
  assign batch_of = batch_valid ? batch_function : batch_of_q;
  if (CONTEXTS == 1) begin : gen_system
    assign system = NUMBER_W'(write_datapath);
  end else begin : gen_systems
    assign system = NUMBER_W'(write_datapath) * NUMBER_W'(CONTEXTS) +
                    NUMBER_W'(write_address[ADDRESS_W-2:IN_W]);
  end
  // Nothing hinders: beats that were taken, a batch that is complete, the end of the run
  assign moves_not = running_q && !consume && !batch_valid && in_use_q != '1 &&
                     (beats_q != consumed_q || half_calls_q[half_now_q] == NUMBER_W'(SYSTEMS) ||
                      (ends_q == NUMBER_W'(calls_q) && !finished &&
                       (in_use_q == '0 || half_calls_q[half_now_q] != '0)));

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    chosen_q <= chosen_q;  // any number, which stays
    waits_q <= rst_ni && tvalid_i && !tready;
    tdata_q <= tdata_i;
    tuser_q <= tuser_i;
    tlast_q <= tlast_i;
    offered_q <= rst_ni && !start_i && batch_valid && !batch_take_i;
    offer_half_q <= batch_half;
    offered_count_q <= batch_count;
    offer_function_q <= batch_function;
    batch_calls_q <= batch_calls;
    batch_of_q <= batch_of;
    if (!rst_ni) begin
      stored_q <= '0;
    end else if (function_store_i) begin
      stored_q[function_number_i] <= 1'b1;
      inputs_q[function_number_i] <= function_inputs_i;
    end
    if (!rst_ni || start_i) begin
      first_q <= 1'b1;
      place_q <= '0;
    end else if (take) begin
      call_function_q <= call_function;
      first_q <= tlast_i;
      place_q <= tlast_i ? '0 : place_q + PLACE_W'(place_q != PLACE_W'(MOST));
    end
    if (!rst_ni || start_i) begin
      running_q <= rst_ni;
      calls_q <= calls_i;
      beats_q <= '0;
      consumed_q <= '0;
      ends_q <= '0;
      placed_q <= '0;
      run_calls_q <= '0;
      chosen_came_q <= 1'b0;
      chosen_waits_q <= 1'b0;
      half_calls_q <= '0;
      half_now_q <= 1'b0;
      write_half_q <= 1'b0;
      any_written_q <= 1'b0;
      in_use_q <= '0;
      running_batches_q <= '0;
      release_half_q <= 1'b0;
      idle_q <= '0;
    end else begin
      beats_q <= beats_q + NUMBER_W'(take);
      ends_q <= ends_q + NUMBER_W'(take && tlast_i);
      consumed_q <= consumed_q + NUMBER_W'(consume);
      placed_q <= placed_q + NUMBER_W'(u_dut.placed);
      run_calls_q <= run_calls_q + (batch_take_i ? NUMBER_W'(batch_count) : '0);
      if (take && beats_q == chosen_q) begin
        chosen_word_q <= tdata_i[W-1:0];
        chosen_place_q <= place_q;
        chosen_is_input_q <= is_input;
        chosen_function_q <= call_function;
        chosen_ends_q <= is_input && tlast_i && place_q + 1'b1 == inputs_q[call_function];
        chosen_came_q <= 1'b1;
      end
      if (batch_take_i) begin
        in_use_q[batch_half] <= 1'b1;
        half_calls_q[batch_half] <= '0;
        half_now_q <= !half_now_q;
        chosen_waits_q <= chosen_waits_q && chosen_half_q != batch_half;
      end
      if (write) begin
        write_half_q <= write_half;
        any_written_q <= 1'b1;
      end
      if (u_dut.placed) begin
        half_calls_q[write_half] <= half_calls_q[write_half] + 1'b1;
      end
      if (chosen_now && u_dut.placed) begin
        chosen_waits_q <= 1'b1;
        chosen_half_q <= write_half;
      end
      if (released_i) begin
        in_use_q[release_half_q] <= 1'b0;
        release_half_q <= !release_half_q;
      end
      running_batches_q <= running_batches_q + 2'(batch_take_i) - 2'(released_i);
      idle_q <= moves_not ? idle_q + 1'b1 : '0;
    end
  end

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
      assume (!tvalid_i && !start_i);
    end else begin
      assume (rst_ni);
      assume (!waits_q || (tvalid_i && tdata_i == tdata_q && tuser_i == tuser_q &&
                           tlast_i == tlast_q));
    end
    assume (!function_store_i || (function_inputs_i != '0 && function_inputs_i <= 2));
    assume (!start_i || (calls_i != '0 && (!running_q || finished)));
    assume (!batch_take_i || (batch_valid && !start_i));
    assume (!released_i || (running_batches_q != '0 && !start_i));
    assume (!function_store_i || !running_q || finished);
  end

  always_comb begin
    if (later_q) begin
      only_in_run: assert (!take || (running_q && ends_q < NUMBER_W'(calls_q)));
      taken_counted: assert (!running_q || taken == DATA_W'(ends_q));
      three_on_the_way: assert (!running_q || beats_q - consumed_q <= NUMBER_W'(3));
      in_order: assert (!write || consumed_q != chosen_q ||
                        (chosen_came_q && write_data == chosen_word_q));
      inputs_written: assert (!chosen_now || write == chosen_is_input_q);
      at_its_place: assert (!chosen_now || !write ||
                            PLACE_W'(write_address[IN_W-1:0]) == chosen_place_q);
      right_calls: assert (!chosen_now || u_dut.placed == chosen_ends_q);
      in_its_system: assert (!write || system == half_calls_q[write_half]);
      not_in_use: assert (!write || (!in_use_q[write_half] &&
                                     !(batch_valid && batch_half == write_half)));
      offer_stands: assert (!offered_q || (batch_valid && batch_half == offer_half_q &&
                                           batch_count == offered_count_q &&
                                           batch_function == offer_function_q));
      halves_in_turn: assert (!batch_valid || batch_half == half_now_q);
      batch_has_calls: assert (!batch_valid || batch_count != '0);
      calls_of_batch: assert (!batch_valid ||
                              NUMBER_W'(batch_count) == half_calls_q[batch_half]);
      function_of_calls: assert (!batch_valid || !chosen_waits_q ||
                                 chosen_half_q != batch_half ||
                                 batch_function == chosen_function_q);
      // Another half is filled: the batch before has all systems, or is of another function
      complete_batch: assert (!chosen_now || !write || !any_written_q ||
                              write_half == write_half_q ||
                              batch_calls == LIVE_W'(SYSTEMS) || batch_of != chosen_function_q);
      moves_on: assert (idle_q <= NUMBER_W'(2));
      finished_when_run: assert (!finished || !running_q || start_i ||
                                 (ends_q == NUMBER_W'(calls_q) && run_calls_q == placed_q &&
                                  placed_q + NUMBER_W'(dropped) == ends_q));
    end
  end

endmodule
