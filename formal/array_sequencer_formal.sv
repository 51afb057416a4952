// array_sequencer: each batch that it takes becomes exactly as many words as its function has, with
// the batch's tokens: the first word marked, the last one releasing it and ending an output half
// that was taken for it. Which words these are is not looked at. Its states exclude each other, and
// while nothing is in its way words follow within IDLE cycles. While a write of the host travels the
// chain advances in each cycle, and no segment begins.
//
// The program is cut out (box): its words are free. Before the run both entries of both tables are
// stored, of segments of at most two words, repeats and loops of at most two. Bounded.

module array_sequencer_formal #(
  parameter int CONTEXTS = 1,
  localparam int DATAPATHS = 2,
  localparam int SEGMENTS = 2,
  localparam int FUNCTIONS = 2,
  localparam int DEPTH = 2,
  localparam int PROGRAM_DEPTH = 4,
  localparam int STREAM_DEPTH = 2,
  localparam int REPEAT_W = 2,
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              run_i,
  input logic              clear_i,
  input logic              finished_i,
  input logic              hold_i,
  input logic [1:0]        segment_start_i,
  input logic [2:0]        segment_length_i,
  input logic [1:0]        segment_repeat_i,
  input logic              segment_quiet_i,
  input logic              segment_emit_i,
  input logic              function_first_i,
  input logic              function_last_i,
  input logic              function_loop_from_i,
  input logic [1:0]        function_loops_i,
  input logic              batch_valid_i,
  input logic              batch_half_i,
  input logic              batch_function_i,
  input logic [LIVE_W-1:0] batch_count_i,
  input logic [1:0]        out_free_i
);

  logic idle, busy, read, done, batch_take, out_take, out_take_half, out_take_function;
  logic advance, in_half, out_half, first, emit_end, release_half, store, number;
  logic [LIVE_W-1:0] out_take_count, live;

  array_sequencer #(
    .NUM_ADD(1), .NUM_MUL(1), .DEPTH(DEPTH), .PROGRAM_DEPTH(PROGRAM_DEPTH), .CONTEXTS(CONTEXTS),
    .DATAPATHS(DATAPATHS), .IN_DEPTH(STREAM_DEPTH), .OUT_DEPTH(STREAM_DEPTH),
    .SEGMENTS(SEGMENTS), .FUNCTIONS(FUNCTIONS), .REPEAT_W(REPEAT_W)
  ) u_dut (
    .clk_i, .rst_ni, .run_i, .clear_i, .idle_o(idle), .busy_o(busy), .read_o(read),
    .done_o(done), .start_o(), .finished_i, .hold_i, .word_cycles_o(), .program_store_i(1'b0),
    .program_pc_i('0), .program_word_i('0), .segment_store_i(store), .segment_number_i(number),
    .segment_start_i, .segment_length_i, .segment_repeat_i, .segment_in_base_i('0),
    .segment_in_stride_i('0), .segment_out_base_i('0), .segment_out_stride_i('0),
    .segment_quiet_i, .segment_emit_i, .function_store_i(store), .function_number_i(number),
    .function_first_i, .function_last_i, .function_loop_from_i, .function_loops_i,
    .batch_valid_i, .batch_half_i, .batch_function_i, .batch_count_i, .batch_take_o(batch_take),
    .out_free_i, .out_take_o(out_take), .out_take_half_o(out_take_half),
    .out_take_function_o(out_take_function), .out_take_count_o(out_take_count),
    .advance_o(advance), .word_o(), .live_o(live), .in_half_o(in_half), .out_half_o(out_half),
    .first_o(first), .emit_end_o(emit_end), .release_o(release_half)
  );

  // ---------------------------------------------------------------------------------------------
  // Tables, stored in the two steps behind the reset
  // ---------------------------------------------------------------------------------------------
  localparam int STEP_W = 5;
  localparam int WORDS_W = 6;

  logic [STEP_W-1:0] step_q = '0;
  logic [SEGMENTS-1:0][WORDS_W-1:0] segment_words_q;
  logic [FUNCTIONS-1:0] first_q, last_q, loop_from_q;
  logic [FUNCTIONS-1:0][1:0] loops_q;
  assign store = step_q == STEP_W'(1) || step_q == STEP_W'(2);
  assign number = step_q == STEP_W'(2);

  always_ff @(posedge clk_i) begin
    step_q <= step_q == '1 ? step_q : step_q + 1'b1;
    if (store) begin
      segment_words_q[number] <= WORDS_W'(segment_length_i) * WORDS_W'(segment_repeat_i);
      first_q[number] <= function_first_i;
      last_q[number] <= function_last_i;
      loop_from_q[number] <= function_loop_from_i;
      loops_q[number] <= function_loops_i;
    end
  end

  // Words of segments `from` to `to`
  function automatic logic [WORDS_W-1:0] words_of(
    input logic [SEGMENTS-1:0][WORDS_W-1:0] words, input logic from, input logic to
  );
    return from == to ? words[from] : words[0] + words[1];
  endfunction

  logic [FUNCTIONS-1:0][WORDS_W-1:0] words;
  for (genvar f = 0; f < FUNCTIONS; f++) begin : gen_words
    assign words[f] = words_of(segment_words_q, first_q[f], last_q[f]) +
                      words_of(segment_words_q, loop_from_q[f], last_q[f]) *
                      WORDS_W'(loops_q[f] - 1'b1);
  end

  // ---------------------------------------------------------------------------------------------
  // Batches that were taken, in order, and the words that were executed of the oldest
  // ---------------------------------------------------------------------------------------------
  localparam int BATCHES = 8;
  localparam int BATCH_W = $clog2(BATCHES);
  localparam int IDLE = 10 + CONTEXTS;
  localparam int DRAINED = 8;  // cycles of a hold: the words of a segment, and of the pipeline

  logic [BATCHES-1:0] function_q, half_q;
  logic [BATCHES-1:0][LIVE_W-1:0] count_q;
  logic [BATCH_W-1:0] taken_q, released_q, ends_q, out_takes_q;
  logic [WORDS_W-1:0] executed_q;
  logic [STEP_W-1:0] idle_q, hold_q;
  logic executes, was_reset_q, was_busy_q, was_read_q, was_done_q, was_run_q, was_command_q;
  logic offered_q, offer_half_q, offer_function_q;
  logic [LIVE_W-1:0] offer_count_q;
  assign executes = advance && live != '0;

  always_ff @(posedge clk_i) begin
    was_reset_q <= !rst_ni;
    was_busy_q <= busy;
    was_read_q <= read;
    was_done_q <= done;
    was_run_q <= run_i;
    was_command_q <= run_i || clear_i;
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
      executed_q <= '0;
      idle_q <= '0;
    end else begin
      if (batch_take) begin
        taken_q <= taken_q + 1'b1;
        function_q[taken_q] <= batch_function_i;
        half_q[taken_q] <= batch_half_i;
        count_q[taken_q] <= batch_count_i;
      end
      out_takes_q <= out_takes_q + BATCH_W'(out_take);
      if (executes) begin
        executed_q <= release_half ? '0 : executed_q + 1'b1;
        released_q <= released_q + BATCH_W'(release_half);
        ends_q <= ends_q + BATCH_W'(emit_end);
      end
      idle_q <= taken_q != released_q && !executes && out_free_i == '1 && !hold_i
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
      // A run is over when its batches are.
      assume (!finished_i || (taken_q == released_q && !batch_valid_i));
    end
  end

  always_comb begin
    if (step_q > STEP_W'(1)) begin
      one_state: assert ({1'b0, idle} + {1'b0, busy} + {1'b0, read} == 2'd1);
      run_starts: assert (was_reset_q || was_busy_q || !was_run_q || busy);
      run_stays: assert (was_reset_q || !was_busy_q || was_done_q || busy);
      run_ends: assert (was_reset_q || !was_done_q || read);
      read_stays: assert (was_reset_q || !was_read_q || was_command_q || read);
      done_when_finished: assert (!busy || done == finished_i);
      takes_what_is_offered: assert (!batch_take || batch_valid_i);
      takes_free_half: assert (!out_take || out_free_i[out_take_half]);
      word_of_a_batch: assert (!executes || taken_q != released_q);
      first_marked: assert (!executes || first == (executed_q == '0));
      token_of_batch: assert (!executes || (live == count_q[released_q] &&
                                            in_half == half_q[released_q]));
      all_words: assert (!executes ||
                         release_half == (executed_q + 1'b1 == words[function_q[released_q]]));
      last_emits: assert (!executes || !release_half || emit_end);
      end_of_taken_half: assert (!executes || !emit_end ||
                                 (ends_q != out_takes_q && out_half == ends_q[0]));
      no_bubble_without_reason: assert (idle_q <= STEP_W'(IDLE));
      hold_advances: assert (hold_q == '0 || advance);
      hold_begins_nothing: assert (hold_q <= STEP_W'(DRAINED) || !executes);
    end
  end

endmodule
