// array_drain: the rules of AXI4-Stream, and what it gives is what it read, each word once, in
// order and at its place in the memories; per half that was taken one packet for each call, of the
// function's outputs, TLAST with the last. A half that is complete is given without a bubble longer
// than IDLE cycles, and all is finished when, and only when, all is given.
//
// The sequencer keeps to what array_sequencer does: it takes a half that is free, the other one
// than before, and says once of a half that was taken that it is complete. Words read and fault
// bits are free. Bounded, from a start with any table of functions.

module array_drain_formal #(
  parameter int CONTEXTS = 1,
  parameter int DATAPATHS = 2,
  localparam int W = 4,
  localparam int OUT_DEPTH = 2,
  localparam int FUNCTIONS = 2,
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS),
  localparam int V_W = array_pkg::datapath_w(DATAPATHS),
  localparam int ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, OUT_DEPTH),
  localparam int DATA_W = 32
) (
  input logic              clk_i,
  input logic              clear_i,
  input logic              function_store_i,
  input logic              function_number_i,
  input logic [1:0]        function_outputs_i,
  input logic              take_i,
  input logic              take_function_i,
  input logic [LIVE_W-1:0] take_count_i,
  input logic              emitted_i,
  input logic [W-1:0]      read_data_i,
  input logic              read_fault_i,
  input logic              tready_i
);

  logic finished, emitted_half_q, tlast, tvalid, take_half_q;
  logic [DATA_W-1:0] given, tdata;
  logic [1:0] free, tuser;
  logic [V_W-1:0] read_datapath;
  logic [ADDRESS_W-1:0] read_address;

  array_drain #(
    .W(W), .CONTEXTS(CONTEXTS), .DATAPATHS(DATAPATHS), .OUT_DEPTH(OUT_DEPTH),
    .FUNCTIONS(FUNCTIONS)
  ) u_dut (
    .clk_i, .clear_i, .start_i(1'b0), .finished_o(finished), .given_o(given),
    .function_store_i, .function_number_i, .function_outputs_i, .free_o(free), .take_i,
    .take_half_i(take_half_q), .take_function_i, .take_count_i, .emitted_i,
    .emitted_half_i(emitted_half_q), .read_datapath_o(read_datapath),
    .read_address_o(read_address), .read_data_i, .read_fault_i, .m_axis_tdata(tdata),
    .m_axis_tuser(tuser), .m_axis_tlast(tlast), .m_axis_tvalid(tvalid), .m_axis_tready(tready_i)
  );

  localparam int NUMBER_W = 6;
  localparam int LATENCY = 1 + array_pkg::READ_LATENCY;

  // ---------------------------------------------------------------------------------------------
  // The sequencer
  // ---------------------------------------------------------------------------------------------
  logic later_q = 1'b0;
  logic [1:0] waiting_q;  // halves that are taken and not complete
  logic [FUNCTIONS-1:0][1:0] outputs_q;  // of each function
  logic [FUNCTIONS-1:0] stored_q;

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    if (function_store_i) begin
      outputs_q[function_number_i] <= function_outputs_i;
      stored_q[function_number_i] <= 1'b1;
    end
    if (clear_i) begin
      take_half_q <= 1'b0;
      emitted_half_q <= 1'b0;
      waiting_q <= '0;
    end else begin
      take_half_q <= take_half_q ^ take_i;
      emitted_half_q <= emitted_half_q ^ emitted_i;
      if (take_i) begin
        waiting_q[take_half_q] <= 1'b1;
      end
      if (emitted_i) begin
        waiting_q[emitted_half_q] <= 1'b0;
      end
    end
    if (!later_q) begin
      stored_q <= '0;
    end
  end

  always_comb begin
    if (!later_q) begin
      assume (clear_i);
    end
    assume (!function_store_i || (function_outputs_i != '0 && function_outputs_i <= 2));
    assume (!function_store_i || clear_i);
    assume (!take_i || (!clear_i && free[take_half_q] && stored_q[take_function_i] &&
                        take_count_i != '0 && 32'(take_count_i) <= CONTEXTS * DATAPATHS));
    assume (!emitted_i || (!clear_i && waiting_q[emitted_half_q]));
  end

  // ---------------------------------------------------------------------------------------------
  // Beats: those due of all halves taken, those read, those given
  // ---------------------------------------------------------------------------------------------
  logic [NUMBER_W-1:0] due_q, read_q, arrived_q, beats_q, calls_due_q, calls_q, chosen_q;
  logic [W:0] chosen_word_q;
  logic chosen_came_q, stands_q, taken;
  logic [DATA_W-1:0] tdata_q;
  logic [1:0] tuser_q;
  logic tlast_q;
  assign taken = tvalid && tready_i;

  // Of each half that was taken, by its number: outputs and number of calls, and the function. More
  // than TAKES are never on their way.
  localparam int TAKES = 16;
  localparam int TAKE_W = $clog2(TAKES);
  logic [TAKES-1:0][1:0] outputs_of_q;
  logic [TAKES-1:0][LIVE_W-1:0] calls_of_q;
  logic [TAKES-1:0] function_of_q;
  logic [TAKE_W-1:0] take_q, emit_q, read_take_q, give_q;
  logic [1:0] beat_q, read_beat_q;
  logic [LIVE_W-1:0] call_q, read_call_q;

  // Cycles without a beat although a half is complete; the place of the word that is read next.
  localparam int IDLE = LATENCY + 2;
  localparam int IDLE_W = $clog2(IDLE + 2);
  logic [IDLE_W-1:0] idle_q;
  logic [ADDRESS_W-1:0] place, place_q;
  logic [V_W-1:0] datapath_q;
  logic placed_q;  // a read, whose address stands a cycle later
  assign place = ADDRESS_W'(
      (32'(read_take_q[0]) * CONTEXTS + 32'(read_call_q) % CONTEXTS) * OUT_DEPTH +
      32'(read_beat_q));

  always_ff @(posedge clk_i) begin
    chosen_q <= chosen_q;  // any number, which stays
    placed_q <= !clear_i && u_dut.read;
    place_q <= place;
    datapath_q <= V_W'(32'(read_call_q) / CONTEXTS);
    stands_q <= !clear_i && tvalid && !tready_i;
    tdata_q <= tdata;
    tuser_q <= tuser;
    tlast_q <= tlast;
    if (clear_i) begin
      due_q <= '0;
      read_q <= '0;
      arrived_q <= '0;
      beats_q <= '0;
      calls_due_q <= '0;
      calls_q <= '0;
      chosen_came_q <= 1'b0;
      take_q <= '0;
      emit_q <= '0;
      idle_q <= '0;
      read_take_q <= '0;
      read_beat_q <= '0;
      read_call_q <= '0;
      give_q <= '0;
      beat_q <= '0;
      call_q <= '0;
    end else begin
      if (take_i) begin
        take_q <= take_q + 1'b1;
        outputs_of_q[take_q] <= outputs_q[take_function_i];
        calls_of_q[take_q] <= take_count_i;
        function_of_q[take_q] <= take_function_i;
        due_q <= due_q + NUMBER_W'(take_count_i) * NUMBER_W'(outputs_q[take_function_i]);
        calls_due_q <= calls_due_q + NUMBER_W'(take_count_i);
      end
      read_q <= read_q + NUMBER_W'(u_dut.read);
      arrived_q <= arrived_q + NUMBER_W'(u_dut.arrives);
      if (u_dut.arrives && arrived_q == chosen_q) begin
        chosen_word_q <= {read_data_i, read_fault_i};
        chosen_came_q <= 1'b1;
      end
      emit_q <= emit_q + TAKE_W'(emitted_i);
      idle_q <= emit_q == give_q || tvalid ? '0 : idle_q + 1'b1;
      if (u_dut.read) begin
        read_beat_q <= read_beat_q + 1'b1;
        if (read_beat_q + 1'b1 == outputs_of_q[read_take_q]) begin
          read_beat_q <= '0;
          read_call_q <= read_call_q + 1'b1;
          if (read_call_q + 1'b1 == calls_of_q[read_take_q]) begin
            read_call_q <= '0;
            read_take_q <= read_take_q + 1'b1;
          end
        end
      end
      beats_q <= beats_q + NUMBER_W'(taken);
      calls_q <= calls_q + NUMBER_W'(taken && tlast);
      if (taken) begin
        beat_q <= tlast ? '0 : beat_q + 1'b1;
        if (tlast) begin
          call_q <= call_q + 1'b1;
          if (call_q + 1'b1 == calls_of_q[give_q]) begin
            call_q <= '0;
            give_q <= give_q + 1'b1;
          end
        end
      end
    end
  end

  always_comb begin
    if (later_q && !clear_i) begin
      stable: assert (!stands_q || (tvalid && tdata == tdata_q && tuser == tuser_q &&
                                    tlast == tlast_q));
      not_invented: assert (!tvalid || beats_q < arrived_q);
      read_only_due: assert (read_q <= due_q);
      no_overflow: assert (arrived_q - beats_q <= NUMBER_W'(u_dut.PLACES));
      in_order: assert (!tvalid || beats_q != chosen_q ||
                        (chosen_came_q && {tdata[W-1:0], tuser[1]} == chosen_word_q));
      rest_is_zero: assert (!tvalid || tdata[DATA_W-1:W] == '0);
      packet_ends: assert (!tvalid || tlast == (beat_q + 1'b1 == outputs_of_q[give_q]));
      packet_of_function: assert (!tvalid || tuser[0] == function_of_q[give_q]);
      calls_counted: assert (given == DATA_W'(calls_q));
      finished_when_given: assert (!finished || (beats_q == due_q && calls_q == calls_due_q));
      finished_at_once: assert (finished || take_q != give_q);
      moves_on: assert (idle_q <= IDLE_W'(IDLE));
      place_of_read: assert (!placed_q || (read_datapath == datapath_q && read_address == place_q));
      reads_arrive: assert (read_q - arrived_q <= NUMBER_W'(LATENCY));
    end
  end

endmodule
