// array_sequencer: each batch that it takes becomes the words of its function's segments, in order,
// each with its repeat's places in the input and output and the batch's tokens: the first word
// marked, the last one releasing it. A word that gives out has an output half that was taken for
// it, in turn, with the function and number of calls of the batch; it ends where a segment emits.
// Its states exclude each other. While nothing is in its way words follow within IDLE cycles, those
// of a batch within GAP, those of a segment at once. In a run the chain advances every CONTEXTS
// cycles, and those with a word are counted. While a write of the host travels it advances in each
// cycle, and no segment begins.
//
// The words of the program are free. Before the run both entries of both tables are stored, of
// segments of at most two words, repeats and loops of at most two. Bounded.

module array_sequencer_formal #(
  parameter int CONTEXTS = 1,
  parameter int SCRATCH_DEPTH = 0,
  localparam int DATAPATHS = 2,
  localparam int SEGMENTS = 2,
  localparam int FUNCTIONS = 2,
  localparam int NUM_ADD = 1,
  localparam int NUM_MUL = 1,
  localparam int DEPTH = 2,
  localparam int PROGRAM_DEPTH = 4,
  localparam int STREAM_DEPTH = 2,
  localparam int REPEAT_W = 2,
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS),
  localparam int PC_W = step_pkg::index_w(PROGRAM_DEPTH),
  localparam int INDEX_W = step_pkg::number_w(STREAM_DEPTH, SCRATCH_DEPTH),
  localparam int WORD_W = step_pkg::stream_word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS, STREAM_DEPTH,
                                                  STREAM_DEPTH, SCRATCH_DEPTH)
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               run_i,
  input logic               clear_i,
  input logic               finished_i,
  input logic               hold_i,
  input logic [1:0]         segment_start_i,
  input logic [2:0]         segment_length_i,
  input logic [1:0]         segment_repeat_i,
  input logic [INDEX_W-1:0] segment_in_base_i,
  input logic [INDEX_W-1:0] segment_in_stride_i,
  input logic [INDEX_W-1:0] segment_out_base_i,
  input logic [INDEX_W-1:0] segment_out_stride_i,
  input logic               segment_quiet_i,
  input logic               segment_emit_i,
  input logic               function_first_i,
  input logic               function_last_i,
  input logic               function_loop_from_i,
  input logic [1:0]         function_loops_i,
  input logic               batch_valid_i,
  input logic               batch_half_i,
  input logic               batch_function_i,
  input logic [LIVE_W-1:0]  batch_count_i,
  input logic [1:0]         out_free_i
);

  logic idle, busy, read, done, start, batch_take, out_take, out_take_half, out_take_function;
  logic advance, in_half, out_half, first, emit_end, release_half, store, number;
  logic [LIVE_W-1:0] out_take_count, live;
  logic [WORD_W-1:0] word;

  array_sequencer #(
    .NUM_ADD(NUM_ADD), .NUM_MUL(NUM_MUL), .DEPTH(DEPTH), .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .CONTEXTS(CONTEXTS), .DATAPATHS(DATAPATHS), .IN_DEPTH(STREAM_DEPTH),
    .OUT_DEPTH(STREAM_DEPTH), .SCRATCH_DEPTH(SCRATCH_DEPTH), .SEGMENTS(SEGMENTS),
    .FUNCTIONS(FUNCTIONS), .REPEAT_W(REPEAT_W)
  ) u_dut (
    .clk_i, .rst_ni, .run_i, .clear_i, .idle_o(idle), .busy_o(busy), .read_o(read),
    .done_o(done), .start_o(start), .finished_i, .hold_i, .word_cycles_o(), .program_store_i(1'b0),
    .program_pc_i('0), .program_word_i('0), .segment_store_i(store), .segment_number_i(number),
    .segment_start_i, .segment_length_i, .segment_repeat_i, .segment_in_base_i,
    .segment_in_stride_i, .segment_out_base_i, .segment_out_stride_i, .segment_quiet_i,
    .segment_emit_i, .function_store_i(store), .function_number_i(number),
    .function_first_i, .function_last_i, .function_loop_from_i, .function_loops_i,
    .batch_valid_i, .batch_half_i, .batch_function_i, .batch_count_i, .batch_take_o(batch_take),
    .out_free_i, .out_take_o(out_take), .out_take_half_o(out_take_half),
    .out_take_function_o(out_take_function), .out_take_count_o(out_take_count),
    .advance_o(advance), .word_o(word), .live_o(live), .in_half_o(in_half), .out_half_o(out_half),
    .first_o(first), .emit_end_o(emit_end), .release_o(release_half)
  );

  // ---------------------------------------------------------------------------------------------
  // Tables, stored in the two steps behind the reset
  // ---------------------------------------------------------------------------------------------
  localparam int STEP_W = 5;

  logic [STEP_W-1:0] step_q = '0;
  logic [SEGMENTS-1:0][1:0] start_q, last_word_q, last_repeat_q;
  logic [SEGMENTS-1:0] quiet_q, emit_q;
  logic [SEGMENTS-1:0][INDEX_W-1:0] in_base_q, in_stride_q, out_base_q, out_stride_q;
  logic [FUNCTIONS-1:0] first_q, last_q, loop_from_q;
  logic [FUNCTIONS-1:0][1:0] last_loop_q;
  assign store = step_q == STEP_W'(1) || step_q == STEP_W'(2);
  assign number = step_q == STEP_W'(2);

  always_ff @(posedge clk_i) begin
    step_q <= step_q == '1 ? step_q : step_q + 1'b1;
    if (store) begin
      start_q[number] <= segment_start_i;
      last_word_q[number] <= 2'(segment_length_i - 1'b1);
      last_repeat_q[number] <= segment_repeat_i - 1'b1;
      in_base_q[number] <= segment_in_base_i;
      in_stride_q[number] <= segment_in_stride_i;
      out_base_q[number] <= segment_out_base_i;
      out_stride_q[number] <= segment_out_stride_i;
      quiet_q[number] <= segment_quiet_i;
      emit_q[number] <= segment_emit_i;
      first_q[number] <= function_first_i;
      last_q[number] <= function_last_i;
      loop_from_q[number] <= function_loop_from_i;
      last_loop_q[number] <= function_loops_i - 1'b1;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Batches that were taken, in order, and the words of the oldest: the one that is executed
  // ---------------------------------------------------------------------------------------------
  localparam int BATCHES = 8;
  localparam int BATCH_W = $clog2(BATCHES);
  localparam int IDLE = 10 + CONTEXTS;
  localparam int GAP = 5 + CONTEXTS;  // between segments of a batch
  localparam int DRAINED = 8;  // cycles of a hold: the words of a segment, and of the pipeline

  logic [BATCHES-1:0] function_q, half_q;
  logic [BATCHES-1:0][LIVE_W-1:0] count_q;
  logic [BATCH_W-1:0] taken_q, released_q, ends_q, out_takes_q;
  logic [STEP_W-1:0] idle_q, hold_q, since_q;  // since: the last advance
  logic executed_q, was_hold_q;  // executed: by the advance before
  // Of the half that is taken: whether it was offered as half 1, and what for
  logic [BATCHES-1:0] take_half_q, take_function_q;
  logic [BATCHES-1:0][LIVE_W-1:0] take_count_q;
  logic executes, was_reset_q, was_busy_q, was_read_q, was_done_q, was_run_q, was_command_q;
  logic offered_q, offer_half_q, offer_function_q;
  logic [LIVE_W-1:0] offer_count_q;
  logic [1:0] in_hand;  // halves that are taken and not at their end
  assign executes = advance && live != '0;
  assign in_hand = out_takes_q == ends_q ? 2'b00 :
                   out_takes_q - ends_q == BATCH_W'(1) ? 2'b01 << ends_q[0] : 2'b11;

  logic begins_q, segment_q, segment, function_now, ends, last_walk, gives;
  logic [1:0] word_q, repeat_q, loop_q;  // gone through
  logic [WORD_W-1:0] expected;
  assign function_now = function_q[released_q];
  assign segment = begins_q ? first_q[function_now] : segment_q;
  assign ends = word_q == last_word_q[segment] && repeat_q == last_repeat_q[segment];
  assign last_walk = segment == last_q[function_now] && loop_q == last_loop_q[function_now];
  assign gives = !quiet_q[segment] || emit_q[segment] || last_walk;

  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL);
  localparam int ADDRESS_W = step_pkg::index_w(DEPTH);
  localparam int EMIT_AT = step_pkg::emit_at(BANKS, ADDRESS_W, CONTEXTS);
  localparam int OUT_INDEX_AT =
      step_pkg::out_index_at(BANKS, ADDRESS_W, CONTEXTS, SCRATCH_DEPTH);
  localparam int IN_INDEX_AT =
      step_pkg::in_index_at(BANKS, ADDRESS_W, CONTEXTS, STREAM_DEPTH, SCRATCH_DEPTH);

  always_comb begin
    expected = u_dut.u_program.memory_q[PC_W'(start_q[segment] + word_q)];
    expected[EMIT_AT] = expected[EMIT_AT] &&
                        (!quiet_q[segment] || (SCRATCH_DEPTH > 0 && expected[EMIT_AT+1]));
    expected[IN_INDEX_AT+:INDEX_W] = expected[IN_INDEX_AT+:INDEX_W] + in_base_q[segment] +
                                     (repeat_q == '0 ? '0 : in_stride_q[segment]);
    expected[OUT_INDEX_AT+:INDEX_W] = expected[OUT_INDEX_AT+:INDEX_W] + out_base_q[segment] +
                                      (repeat_q == '0 ? '0 : out_stride_q[segment]);
  end

  always_ff @(posedge clk_i) begin
    was_reset_q <= !rst_ni;
    was_busy_q <= busy;
    was_read_q <= read;
    was_done_q <= done;
    was_run_q <= run_i;
    was_command_q <= run_i || clear_i;
    was_hold_q <= hold_i;
    since_q <= !rst_ni || advance ? '0 : since_q + 1'b1;
    executed_q <= rst_ni && (advance ? live != '0 : executed_q);
    hold_q <= !rst_ni || !hold_i ? '0 : hold_q + STEP_W'(hold_q != '1);
    offered_q <= rst_ni && batch_valid_i && !batch_take;
    offer_half_q <= batch_half_i;
    offer_function_q <= batch_function_i;
    offer_count_q <= batch_count_i;
    if (!rst_ni) begin
      taken_q <= '0;
      released_q <= '0;
      ends_q <= '0;
      out_takes_q <= '0;
      begins_q <= 1'b1;
      word_q <= '0;
      repeat_q <= '0;
      loop_q <= '0;
      idle_q <= '0;
    end else begin
      if (batch_take) begin
        taken_q <= taken_q + 1'b1;
        function_q[taken_q] <= batch_function_i;
        half_q[taken_q] <= batch_half_i;
        count_q[taken_q] <= batch_count_i;
      end
      out_takes_q <= out_takes_q + BATCH_W'(out_take);
      if (out_take) begin
        take_half_q[out_takes_q] <= out_take_half;
        take_function_q[out_takes_q] <= out_take_function;
        take_count_q[out_takes_q] <= out_take_count;
      end
      if (executes) begin
        begins_q <= release_half;
        segment_q <= segment;
        if (word_q != last_word_q[segment]) begin
          word_q <= word_q + 1'b1;
        end else begin
          word_q <= '0;
          repeat_q <= ends ? '0 : repeat_q + 1'b1;
        end
        if (ends && segment == last_q[function_now]) begin
          segment_q <= loop_from_q[function_now];
          loop_q <= last_walk ? '0 : loop_q + 1'b1;
        end else if (ends) begin
          segment_q <= !segment;
        end
        released_q <= released_q + BATCH_W'(release_half);
        ends_q <= ends_q + BATCH_W'(emit_end);
      end
      if (start) begin  // half 0 first
        out_takes_q <= '0;
        ends_q <= '0;
      end
      idle_q <= taken_q != released_q && !executes && (out_free_i | in_hand) == '1 && !hold_i
                ? idle_q + 1'b1 : '0;
    end
  end

  always_comb begin
    assume (rst_ni == (step_q != '0));
    if (store) begin
      assume (segment_length_i != '0 && segment_length_i <= 2 && segment_start_i <= 2);
      assume (segment_repeat_i != '0 && segment_repeat_i <= 2);
      assume (function_loops_i != '0 && function_loops_i <= 2);
      assume (function_first_i <= function_loop_from_i);
      assume (function_loop_from_i <= function_last_i);
    end
    if (step_q <= STEP_W'(2)) begin
      assume (!run_i && !batch_valid_i);
    end else begin
      // The loader: a batch stands until it is taken, and only in a run, of at most two.
      assume (!offered_q || (batch_valid_i && batch_half_i == offer_half_q &&
                             batch_function_i == offer_function_q &&
                             batch_count_i == offer_count_q));
      assume (!batch_valid_i || (busy && batch_count_i != '0 &&
                                 32'(batch_count_i) <= CONTEXTS * DATAPATHS));
      assume (!batch_valid_i || taken_q - released_q < BATCH_W'(2));
      // The drain: what is taken is not free before it was given, and that is behind its end.
      assume ((out_free_i & in_hand) == '0);
      // A run is over when its batches are.
      assume (!finished_i || (taken_q == released_q && !batch_valid_i));
    end
  end

  always_comb begin
    if (step_q > STEP_W'(1)) begin
      one_state: assert ({1'b0, idle} + {1'b0, busy} + {1'b0, read} == 2'd1);
      start_told: assert (start == (run_i && !busy));
      run_starts: assert (was_reset_q || was_busy_q || !was_run_q || busy);
      run_stays: assert (was_reset_q || !was_busy_q || was_done_q || busy);
      run_ends: assert (was_reset_q || !was_done_q || read);
      read_stays: assert (was_reset_q || !was_read_q || was_command_q || read);
      done_when_finished: assert (!busy || done == finished_i);
      takes_what_is_offered: assert (!batch_take || batch_valid_i);
      takes_when_empty: assert (!batch_valid_i || taken_q != released_q || batch_take);
      takes_free_half: assert (!out_take || out_free_i[out_take_half]);
      word_of_a_batch: assert (!executes || taken_q != released_q);
      word_of_segment: assert (!executes || word == expected);
      bubble_is_empty: assert (live != '0 || {word, in_half, out_half, first, emit_end,
                                              release_half} == '0);
      first_marked: assert (!executes || first == begins_q);
      token_of_batch: assert (!executes || (live == count_q[released_q] &&
                                            in_half == half_q[released_q]));
      all_words: assert (!executes || release_half == (ends && last_walk));
      emits: assert (!executes || emit_end == (ends && (emit_q[segment] || last_walk)));
      gives_to_taken_half: assert (!executes || !gives ||
                                   (ends_q != out_takes_q && out_half == take_half_q[ends_q]));
      taken_in_turn: assert (!out_take || out_take_half == out_takes_q[0]);
      taken_for_batch: assert (!executes || !gives ||
                               (take_function_q[ends_q] == function_now &&
                                take_count_q[ends_q] == count_q[released_q]));
      no_bubble_inside: assert (!advance || executes || (word_q == '0 && repeat_q == '0));
      no_bubble_without_reason: assert (idle_q <= (begins_q ? STEP_W'(IDLE) : STEP_W'(GAP)));
      advances_in_turn: assert (!busy || was_hold_q || advance == (32'(since_q) == CONTEXTS - 1));
      cycles_of_words: assert (u_dut.executed_q == executed_q);
      hold_advances: assert (hold_q == '0 || advance);
      hold_begins_nothing: assert (hold_q <= STEP_W'(DRAINED) || !executes);
    end
  end

endmodule
