// array_sequencer: the cycles that execute words are counted, all of them since the start, for
// every number of 32 bits; so are the loops of a function and the repeats of a segment, as stored;
// what no simulation counts to. From any state, reset or not.

module array_sequencer_counts_formal #(
  localparam int CONTEXTS = 1,
  localparam int DATAPATHS = 2,
  localparam int SEGMENTS = 2,
  localparam int FUNCTIONS = 2,
  localparam int DEPTH = 2,
  localparam int PROGRAM_DEPTH = 4,
  localparam int STREAM_DEPTH = 2,
  localparam int REPEAT_W = 16,
  localparam int COUNT_W = 32,
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                run_i,
  input logic                clear_i,
  input logic                finished_i,
  input logic                hold_i,
  input logic                batch_valid_i,
  input logic                batch_half_i,
  input logic                batch_function_i,
  input logic [LIVE_W-1:0]   batch_count_i,
  input logic [1:0]          out_free_i,
  input logic                segment_store_i,
  input logic                segment_number_i,
  input logic [REPEAT_W-1:0] segment_repeat_i,
  input logic                function_store_i,
  input logic                function_number_i,
  input logic [REPEAT_W-1:0] function_loops_i
);

  logic start;
  logic [COUNT_W-1:0] word_cycles;

  array_sequencer #(
    .NUM_ADD(1), .NUM_MUL(1), .DEPTH(DEPTH), .PROGRAM_DEPTH(PROGRAM_DEPTH), .CONTEXTS(CONTEXTS),
    .DATAPATHS(DATAPATHS), .IN_DEPTH(STREAM_DEPTH), .OUT_DEPTH(STREAM_DEPTH),
    .SEGMENTS(SEGMENTS), .FUNCTIONS(FUNCTIONS), .REPEAT_W(REPEAT_W)
  ) u_dut (
    .clk_i, .rst_ni, .run_i, .clear_i, .idle_o(), .busy_o(), .read_o(), .done_o(),
    .start_o(start), .finished_i, .hold_i, .word_cycles_o(word_cycles), .program_store_i(1'b0),
    .program_pc_i('0), .program_word_i('0), .segment_store_i, .segment_number_i,
    .segment_start_i('0), .segment_length_i('0), .segment_repeat_i, .segment_in_base_i('0),
    .segment_in_stride_i('0), .segment_out_base_i('0), .segment_out_stride_i('0),
    .segment_quiet_i(1'b0), .segment_emit_i(1'b0), .function_store_i,
    .function_number_i, .function_first_i('0), .function_last_i('0),
    .function_loop_from_i('0), .function_loops_i, .batch_valid_i, .batch_half_i,
    .batch_function_i, .batch_count_i, .batch_take_o(), .out_free_i, .out_take_o(),
    .out_take_half_o(), .out_take_function_o(), .out_take_count_o(), .advance_o(), .word_o(),
    .live_o(), .in_half_o(), .out_half_o(), .first_o(), .emit_end_o(), .release_o()
  );

  logic later_q = 1'b0;
  logic counted_q;
  logic [COUNT_W-1:0] was_q;

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    counted_q <= rst_ni && !start && u_dut.executed_q;
    was_q <= rst_ni && !start ? word_cycles : '0;
  end

  always_comb begin
    if (later_q) begin
      word_cycles_counted: assert (word_cycles == was_q + COUNT_W'(counted_q));
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Loops and repeats: one less is stored, as the last one does not come back
  // ---------------------------------------------------------------------------------------------
  localparam int REPEATS_AT = 4;  // in a segment: below are base and stride in and out

  logic function_stored_q, segment_stored_q, function_q, segment_q;
  logic [REPEAT_W-1:0] loops_stored, repeats_stored, loops_given_q, repeats_given_q;
  logic [REPEAT_W-1:0] loops_next_q, repeats_next_q;
  assign loops_stored = u_dut.functions_q[function_q][REPEAT_W-1:0];
  assign repeats_stored = u_dut.segments_q[segment_q][REPEATS_AT+:REPEAT_W];

  always_ff @(posedge clk_i) begin
    function_stored_q <= function_store_i;
    function_q <= function_number_i;
    loops_given_q <= function_loops_i;
    segment_stored_q <= segment_store_i;
    segment_q <= segment_number_i;
    repeats_given_q <= segment_repeat_i;
    if (!u_dut.walking_q) begin
      loops_next_q <= u_dut.functions_q[batch_function_i][REPEAT_W-1:0];
    end else begin
      loops_next_q <= u_dut.loops_left_q -
          REPEAT_W'(u_dut.find && u_dut.number_q == u_dut.last_number_q);
    end
    if (u_dut.enter) begin
      repeats_next_q <= u_dut.next_repeats;
    end else begin
      repeats_next_q <= u_dut.repeats_left_q - REPEAT_W'(u_dut.fetch && u_dut.last_word);
    end
  end

  always_comb begin
    if (later_q) begin
      loops_given: assert (!function_stored_q || loops_stored == loops_given_q - 1'b1);
      loops_counted: assert (u_dut.loops_left_q == loops_next_q);
      repeats_given: assert (!segment_stored_q || repeats_stored == repeats_given_q - 1'b1);
      repeats_counted: assert (u_dut.repeats_left_q == repeats_next_q);
    end
  end

endmodule
