// Sequencer of the step array: turns batches of calls into program words and the tokens that travel
// with them down the chain of datapaths (array_core).
//
// A batch is of one function. A function walks its segments `first` to `last` once, then
// `loop_from` to `last` again until it has gone through them `loops` times. A segment is `length`
// words of the program from `start` on, run `repeat` times; in repeat r, `in_base` + r `in_stride`
// is added to the words' input index and `out_base` + r `out_stride` to the output index, modulo
// the depth of the memory, the larger one with a scratch memory. A quiet segment gives out nothing
// but to that. One that is not quiet, or that emits,
// needs a half of the output memories: if the batch holds none it takes the next one, once that is
// free. Behind a segment that emits, the half is complete and the drain's. The last segment of a
// batch always emits.
//
//   walk          which segment comes next; batches are taken here
//   found         the segment of that number, from the table
//   next          the same, until it has its half, then until the words before it are over
//   current       counts its words and repeats: address of the program, token
//   fetched       the word in the memory's output register (array_program), its token beside it
//   loaded        the word in the register behind that
//   placed        the word with its indices, `word_o`; array_core's word register follows
//
// The chain of datapaths advances (`advance_o`) every CONTEXTS cycles of a run. What stands before
// it moves up as soon as there is room. A segment takes 3 cycles to `next`: no bubble comes between
// segments of at least 4 cycles, none ever inside one. With `hold_i` the chain belongs to the host:
// it advances in every cycle, as it does between runs, and no segment begins.
//
// States and commands as in the other engines: a run while busy does nothing, `finished_i` ends the
// run, `done_o` pulses in the last busy cycle. Tables and program are stored between runs only and
// keep what they have through a reset.
//
// Latency: 8 cycles from a batch to its first word in `placed`, which array_core takes with the
// next advance. Throughput: one word in CONTEXTS cycles.

module array_sequencer #(
  parameter int NUM_ADD = 2,
  parameter int NUM_MUL = 2,
  parameter int DEPTH = 64,
  parameter int PROGRAM_DEPTH = 1024,
  parameter int CONTEXTS = 1,
  parameter int DATAPATHS = 2,
  parameter int IN_DEPTH = 64,
  parameter int OUT_DEPTH = 64,
  parameter int SCRATCH_DEPTH = 0,
  parameter int SEGMENTS = 64,
  parameter int FUNCTIONS = 16,
  parameter int REPEAT_W = 16,  // bits of the repeats of a segment and the loops of a function
  localparam int COUNT_W = 32,
  localparam int PC_W = step_pkg::index_w(PROGRAM_DEPTH),
  localparam int IN_W = step_pkg::number_w(IN_DEPTH, SCRATCH_DEPTH),
  localparam int OUT_W = step_pkg::number_w(OUT_DEPTH, SCRATCH_DEPTH),
  localparam int SEGMENT_W = step_pkg::index_w(SEGMENTS),
  localparam int FUNCTION_W = step_pkg::index_w(FUNCTIONS),
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS),
  localparam int WORD_W =
      step_pkg::stream_word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS, IN_DEPTH, OUT_DEPTH,
                              SCRATCH_DEPTH)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               run_i,
  input  logic               clear_i,
  output logic               idle_o,
  output logic               busy_o,
  output logic               read_o,
  output logic               done_o,
  output logic               start_o,
  input  logic               finished_i,
  input  logic               hold_i,
  output logic [COUNT_W-1:0] word_cycles_o,

  // what is run
  input  logic                 program_store_i,
  input  logic [PC_W-1:0]      program_pc_i,
  input  logic [WORD_W-1:0]    program_word_i,
  input  logic                 segment_store_i,
  input  logic [SEGMENT_W-1:0] segment_number_i,
  input  logic [PC_W-1:0]      segment_start_i,
  input  logic [PC_W:0]        segment_length_i,
  input  logic [REPEAT_W-1:0]  segment_repeat_i,
  input  logic [IN_W-1:0]      segment_in_base_i,
  input  logic [IN_W-1:0]      segment_in_stride_i,
  input  logic [OUT_W-1:0]     segment_out_base_i,
  input  logic [OUT_W-1:0]     segment_out_stride_i,
  input  logic                 segment_quiet_i,
  input  logic                 segment_emit_i,
  input  logic                 function_store_i,
  input  logic [FUNCTION_W-1:0] function_number_i,
  input  logic [SEGMENT_W-1:0] function_first_i,
  input  logic [SEGMENT_W-1:0] function_last_i,
  input  logic [SEGMENT_W-1:0] function_loop_from_i,
  input  logic [REPEAT_W-1:0]  function_loops_i,

  // a complete batch of the loader
  input  logic                  batch_valid_i,
  input  logic                  batch_half_i,
  input  logic [FUNCTION_W-1:0] batch_function_i,
  input  logic [LIVE_W-1:0]     batch_count_i,
  output logic                  batch_take_o,

  // a half of the output memories that is taken from the drain
  input  logic [1:0]            out_free_i,
  output logic                  out_take_o,
  output logic                  out_take_half_o,
  output logic [FUNCTION_W-1:0] out_take_function_o,
  output logic [LIVE_W-1:0]     out_take_count_o,

  // to array_core
  output logic              advance_o,
  output logic [WORD_W-1:0] word_o,
  output logic [LIVE_W-1:0] live_o,
  output logic              in_half_o,
  output logic              out_half_o,
  output logic              first_o,
  output logic              emit_end_o,
  output logic              release_o
);

  if (SEGMENTS < 2 || FUNCTIONS < 2) begin : gen_check
    initial $fatal(1, "%m: SEGMENTS %0d and FUNCTIONS %0d must be at least 2",
                   SEGMENTS, FUNCTIONS);
  end

  // ---------------------------------------------------------------------------------------------
  // State
  // ---------------------------------------------------------------------------------------------
  logic busy_q, busy_d, read_q, start;
  assign busy_o = busy_q;
  assign read_o = read_q;
  assign idle_o = !busy_q && !read_q;
  assign start = run_i && !busy_q;
  assign start_o = start;
  assign done_o = busy_q && finished_i;
  assign busy_d = start || (busy_q && !done_o);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      read_q <= 1'b0;
    end else begin
      busy_q <= busy_d;
      read_q <= done_o || (read_q && !clear_i && !run_i);
    end
  end

  // When the chain advances
  logic advance;
  assign advance_o = advance;

  if (CONTEXTS == 1) begin : gen_advance
    assign advance = 1'b1;
  end else begin : gen_advances
    localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS);
    logic [CONTEXT_W-1:0] context_q, context_d;
    logic advance_q;
    assign advance = advance_q;
    assign context_d = advance ? '0 : context_q + 1'b1;

    always_ff @(posedge clk_i) begin
      context_q <= context_d;
      advance_q <= !rst_ni || !busy_d || hold_i || context_d == CONTEXT_W'(CONTEXTS - 1);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Walk: the number of the next segment
  // ---------------------------------------------------------------------------------------------
  localparam int ENTRY_W = 3 * SEGMENT_W + REPEAT_W;
  localparam int BATCH_W = FUNCTION_W + LIVE_W + 1;

  logic [ENTRY_W-1:0] functions_q[step_pkg::places(FUNCTIONS)];  // distributed RAM
  logic [SEGMENT_W-1:0] entry_first, entry_last, entry_loop_from;
  logic [REPEAT_W-1:0] entry_loops;
  logic walking_q, first_segment_q, batch_ends, find;
  logic [SEGMENT_W-1:0] number_q, last_number_q, loop_from_q;
  logic [REPEAT_W-1:0] loops_left_q;  // after this one
  logic [BATCH_W-1:0] walk_batch_q;
  assign {entry_first, entry_last, entry_loop_from, entry_loops} = functions_q[batch_function_i];
  assign batch_take_o = batch_valid_i && !walking_q;
  assign batch_ends = number_q == last_number_q && loops_left_q == '0;

  always_ff @(posedge clk_i) begin
    if (function_store_i) begin
      functions_q[function_number_i] <= {
        function_first_i,
        function_last_i,
        function_loop_from_i,
        function_loops_i - 1'b1
      };
    end
    if (!walking_q) begin
      number_q <= entry_first;
      last_number_q <= entry_last;
      loop_from_q <= entry_loop_from;
      loops_left_q <= entry_loops;
      first_segment_q <= 1'b1;
      walk_batch_q <= {batch_function_i, batch_count_i, batch_half_i};
    end else if (find) begin
      first_segment_q <= 1'b0;
      if (number_q == last_number_q) begin
        number_q <= loop_from_q;
        loops_left_q <= loops_left_q - 1'b1;
      end else begin
        number_q <= number_q + 1'b1;
      end
    end
    if (!rst_ni) begin
      walking_q <= 1'b0;
    end else begin
      walking_q <= batch_take_o || (walking_q && !(find && batch_ends));
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Found: the segment of that number
  // ---------------------------------------------------------------------------------------------
  // What decides whether it needs a half stands apart (distributed RAM), near what asks for one.
  localparam int DESCRIPTOR_W = 2 * PC_W + REPEAT_W + 2 * IN_W + 2 * OUT_W;

  (* no_rw_check *) logic [DESCRIPTOR_W-1:0] segments_q[step_pkg::places(SEGMENTS)];
  logic [1:0] flags_q[step_pkg::places(SEGMENTS)];
  logic found_valid_q, found_first_q, found_last_q, found_quiet_q, found_emit_q, fill;
  logic [DESCRIPTOR_W-1:0] found_q;
  logic [BATCH_W-1:0] found_batch_q;
  assign find = walking_q && (!found_valid_q || fill);

  always_ff @(posedge clk_i) begin
    if (segment_store_i) begin
      segments_q[segment_number_i] <= {
        segment_start_i,
        PC_W'(segment_length_i - 1'b1),
        segment_repeat_i - 1'b1,
        segment_in_base_i,
        segment_in_stride_i,
        segment_out_base_i,
        segment_out_stride_i
      };
      flags_q[segment_number_i] <= {segment_quiet_i, segment_emit_i};
    end
    if (find) begin
      found_q <= segments_q[number_q];
      {found_quiet_q, found_emit_q} <= flags_q[number_q];
      found_first_q <= first_segment_q;
      found_last_q <= batch_ends;
      found_batch_q <= walk_batch_q;
    end
    if (!rst_ni) begin
      found_valid_q <= 1'b0;
    end else begin
      found_valid_q <= find || (found_valid_q && !fill);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Next: the segment that gets its half of the output memories and waits for its turn
  // ---------------------------------------------------------------------------------------------
  logic next_valid_q, next_ready_q, next_first_q, next_last_q, next_out_half_q;
  logic [DESCRIPTOR_W-1:0] next_q;
  logic [BATCH_W-1:0] next_batch_q;
  logic [PC_W-1:0] next_start, next_words;
  logic [REPEAT_W-1:0] next_repeats;
  logic [IN_W-1:0] next_in_base, next_in_stride;
  logic [OUT_W-1:0] next_out_base, next_out_stride;
  logic next_quiet_q, next_emit_q, needs_q, next_in_half;
  logic [FUNCTION_W-1:0] next_function;
  logic [LIVE_W-1:0] next_live;
  logic held_q, half_q, settle, enter;  // half_q: the half that is held, or the next one
  assign {next_start, next_words, next_repeats, next_in_base, next_in_stride, next_out_base,
          next_out_stride} = next_q;
  assign {next_function, next_live, next_in_half} = next_batch_q;
  assign fill = found_valid_q && !next_valid_q;
  assign settle = next_valid_q && !next_ready_q && (!needs_q || held_q || out_free_i[half_q]);
  assign out_take_o = settle && needs_q && !held_q;
  assign out_take_half_o = half_q;
  assign out_take_function_o = next_function;
  assign out_take_count_o = next_live;

  always_ff @(posedge clk_i) begin
    if (fill) begin
      next_q <= found_q;
      next_first_q <= found_first_q;
      next_last_q <= found_last_q;
      next_quiet_q <= found_quiet_q;
      next_emit_q <= found_emit_q || found_last_q;
      needs_q <= !found_quiet_q || found_emit_q || found_last_q;
      next_batch_q <= found_batch_q;
    end
    if (settle) begin
      next_out_half_q <= half_q;
    end
    if (!rst_ni || start) begin
      next_valid_q <= 1'b0;
      next_ready_q <= 1'b0;
      held_q <= 1'b0;
      half_q <= 1'b0;
    end else begin
      next_valid_q <= fill || (next_valid_q && !enter);
      next_ready_q <= settle || (next_ready_q && !enter);
      if (settle && needs_q) begin
        held_q <= !next_emit_q;
        half_q <= half_q ^ next_emit_q;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Current: the segment whose words are fetched
  // ---------------------------------------------------------------------------------------------
  logic valid_q, first_word_q, last_segment_q, quiet_q, emit_q, in_half_q, out_half_q;
  logic last_word, last_repeat, segment_ends, fetch;
  logic [PC_W-1:0] pc_q, words_left_q, start_pc_q, words_q;  // left after this one
  logic [REPEAT_W-1:0] repeats_left_q;
  logic [IN_W-1:0] in_offset_q, in_stride_q;
  logic [OUT_W-1:0] out_offset_q, out_stride_q;
  logic [LIVE_W-1:0] live_q;
  assign last_word = words_left_q == '0;
  assign last_repeat = repeats_left_q == '0;
  assign segment_ends = last_word && last_repeat;
  assign enter = fetch && next_ready_q && !hold_i && (!valid_q || segment_ends);

  always_ff @(posedge clk_i) begin
    if (enter) begin
      pc_q <= next_start;
      start_pc_q <= next_start;
      words_left_q <= next_words;
      words_q <= next_words;
      repeats_left_q <= next_repeats;
      in_offset_q <= next_in_base;
      in_stride_q <= next_in_stride;
      out_offset_q <= next_out_base;
      out_stride_q <= next_out_stride;
      quiet_q <= next_quiet_q;
      emit_q <= next_emit_q;
      first_word_q <= next_first_q;
      last_segment_q <= next_last_q;
      live_q <= next_live;
      in_half_q <= next_in_half;
      out_half_q <= next_out_half_q;
    end else if (fetch) begin
      first_word_q <= 1'b0;
      if (last_word) begin
        pc_q <= start_pc_q;
        words_left_q <= words_q;
        repeats_left_q <= repeats_left_q - 1'b1;
        in_offset_q <= in_offset_q + in_stride_q;
        out_offset_q <= out_offset_q + out_stride_q;
      end else begin
        pc_q <= pc_q + 1'b1;
        words_left_q <= words_left_q - 1'b1;
      end
    end
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (fetch) begin
      valid_q <= enter || (valid_q && !segment_ends);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Words with their tokens; a bubble is all zeros
  // ---------------------------------------------------------------------------------------------
  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL);
  localparam int ADDRESS_W = step_pkg::index_w(DEPTH);
  localparam int EMIT_AT = step_pkg::emit_at(BANKS, ADDRESS_W, CONTEXTS);
  localparam int OUT_INDEX_AT =
      step_pkg::out_index_at(BANKS, ADDRESS_W, CONTEXTS, SCRATCH_DEPTH);
  localparam int IN_INDEX_AT =
      step_pkg::in_index_at(BANKS, ADDRESS_W, CONTEXTS, OUT_DEPTH, SCRATCH_DEPTH);
  localparam int TOKEN_W = LIVE_W + 5;
  localparam int ITEM_W = 1 + IN_W + OUT_W + TOKEN_W;

  logic [WORD_W-1:0] loaded_word, word_q;
  logic [ITEM_W-1:0] fetched_item_q, loaded_item_q;
  logic [TOKEN_W-1:0] token, token_q;
  logic fetched_valid_q, loaded_valid_q, placed_valid_q, executed_q, load, place;
  logic loaded_quiet;
  logic [IN_W-1:0] loaded_in_offset;
  logic [OUT_W-1:0] loaded_out_offset;
  logic [TOKEN_W-1:0] loaded_token;
  logic [COUNT_W-1:0] word_cycles_q;
  assign place = !placed_valid_q || advance;
  assign load = !loaded_valid_q || place;
  assign fetch = !fetched_valid_q || load;

  array_program #(
    .WORD_W(WORD_W),
    .DEPTH(PROGRAM_DEPTH)
  ) u_program (
    .clk_i,
    .store_i(program_store_i),
    .store_pc_i(program_pc_i),
    .store_word_i(program_word_i),
    .fetch_i(fetch),
    .pc_i(pc_q),
    .load_i(load),
    .word_o(loaded_word)
  );

  function automatic logic to_scratch(input logic [WORD_W-1:0] word);
    return SCRATCH_DEPTH > 0 && word[EMIT_AT+1];
  endfunction

  function automatic logic [WORD_W-1:0] placed(
    input logic [WORD_W-1:0] word, input logic quiet,
    input logic [IN_W-1:0] in_offset, input logic [OUT_W-1:0] out_offset
  );
    logic [WORD_W-1:0] result;
    result = word;
    result[EMIT_AT] = word[EMIT_AT] && (!quiet || to_scratch(word));
    result[IN_INDEX_AT+:IN_W] = word[IN_INDEX_AT+:IN_W] + in_offset;
    result[OUT_INDEX_AT+:OUT_W] = word[OUT_INDEX_AT+:OUT_W] + out_offset;
    return result;
  endfunction

  assign token = {live_q, in_half_q, out_half_q, first_word_q, emit_q && segment_ends,
                  last_segment_q && segment_ends};
  assign {loaded_quiet, loaded_in_offset, loaded_out_offset, loaded_token} = loaded_item_q;

  always_ff @(posedge clk_i) begin
    if (fetch) begin
      fetched_item_q <= {quiet_q, in_offset_q, out_offset_q, token};
    end
    if (load) begin
      loaded_item_q <= fetched_item_q;
    end
    if (!rst_ni) begin
      fetched_valid_q <= 1'b0;
      loaded_valid_q <= 1'b0;
      placed_valid_q <= 1'b0;
      word_q <= '0;
      token_q <= '0;
      executed_q <= 1'b0;
    end else begin
      if (fetch) begin
        fetched_valid_q <= valid_q;
      end
      if (load) begin
        loaded_valid_q <= fetched_valid_q;
      end
      if (place) begin
        placed_valid_q <= loaded_valid_q;
        word_q <= loaded_valid_q ? placed(loaded_word, loaded_quiet, loaded_in_offset,
                                          loaded_out_offset) : '0;
        token_q <= loaded_valid_q ? loaded_token : '0;
      end
      if (advance) begin
        executed_q <= placed_valid_q;
      end
    end
    if (!rst_ni || start) begin
      word_cycles_q <= '0;
    end else begin
      word_cycles_q <= word_cycles_q + COUNT_W'(executed_q);
    end
  end

  assign word_o = word_q;
  assign {live_o, in_half_o, out_half_o, first_o, emit_end_o, release_o} = token_q;
  assign word_cycles_o = word_cycles_q;

endmodule
