// Sequencer of the step engine: which word of the program, or which register to trace, comes next.
//
// A run is `steps_i` passes, each through the main segment of the program or, in steps every,
// 2 every, ..., through the re-basing one, back to back. In steps 0, save, 2 save, ... `before_i`
// entries of the trace list, from `entry_i` on, are traced before the pass and the next `after_i`
// ones after it, one a cycle; a full trace makes them wait. `every_i` or `save_i` = 0: never.
//
// Items (words, traced registers, the end) go through two registers, parallel to the program memory
// and the word register (step_program). Nothing is ever known too late for the next item, so there
// are no bubbles. In the cycle after the last word of a step its fault is known: if there is one,
// the run ends there. The item that has come too far does no harm: a register is not traced, and
// the first word of a step has no result to store yet.
//
//   cycle of a run       1        2        3       ..   2 + items   3 + items
//   `fetch_o`, `pc_o`    item 0   item 1
//   fetched                       item 0   item 1
//   executed                               item 0       last item   end (`done_o`)
//
// With several contexts a word is executed for as many cycles, `context_o` says for which context;
// all else happens with its last one. A location tells its context above the address. A register
// that is traced right behind a step waits for a cycle, until all of the step is stored.
//
// The operands of a run stand from one cycle before it on. States and commands as in the other
// engines: a run while busy does nothing, `done_o` pulses in the last busy cycle. `stopped` is
// `fault_i` after the run.
//
// Between runs the word register shows `host_location_i` (bank and address), from the next cycle
// on; `address_o` is what the word register takes with `access_o`, `bank_o` the bank of the
// location in it. The host reads and writes the trace list in between, too.
//
// Latency: 3 cycles besides the items. Throughput: one item a cycle, a word in CONTEXTS cycles.

module step_sequencer #(
  parameter int BANKS = 6,
  parameter int DEPTH = 64,
  parameter int PROGRAM_DEPTH = 1024,
  parameter int TRACE_REGISTERS = 128,
  parameter int CONTEXTS = 1,
  localparam int COUNT_W = 32,
  localparam int BANK_W = $clog2(BANKS),
  localparam int ADDRESS_W = step_pkg::index_w(DEPTH),
  localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS),
  localparam int FILE_W = step_pkg::index_w(CONTEXTS * DEPTH),
  localparam int LOCATION_W = BANK_W + FILE_W,
  localparam int PC_W = step_pkg::index_w(PROGRAM_DEPTH),
  localparam int ENTRY_W = step_pkg::index_w(TRACE_REGISTERS)
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
  output logic [COUNT_W-1:0] steps_done_o,

  input  logic [COUNT_W-1:0] steps_i,
  input  logic [COUNT_W-1:0] save_i,
  input  logic [COUNT_W-1:0] every_i,
  input  logic [PC_W-1:0]    main_start_i,
  input  logic [PC_W:0]      main_length_i,
  input  logic [PC_W-1:0]    special_start_i,
  input  logic [PC_W:0]      special_length_i,
  input  logic [ENTRY_W-1:0] entry_i,
  input  logic [ENTRY_W:0]   before_i,
  input  logic [ENTRY_W:0]   after_i,

  output logic                 fetch_o,
  output logic [PC_W-1:0]      pc_o,
  output logic                 load_o,
  output logic                 access_o,
  output logic [ADDRESS_W-1:0] address_o,
  output logic [BANK_W-1:0]    bank_o,
  output logic [CONTEXT_W-1:0] context_o,
  input  logic                 fault_i,

  output logic push_o,
  input  logic full_i,

  input  logic [LOCATION_W-1:0] host_location_i,
  input  logic                  list_write_i,
  input  logic [ENTRY_W-1:0]    list_index_i,
  input  logic [LOCATION_W-1:0] list_data_i,
  output logic [LOCATION_W-1:0] list_data_o
);

  if (TRACE_REGISTERS < 2) begin : gen_check
    initial $fatal(1, "%m: TRACE_REGISTERS %0d must be at least 2", TRACE_REGISTERS);
  end
  if (CONTEXTS < 1 || CONTEXTS > step_pkg::MAX_CONTEXTS) begin : gen_check_contexts
    initial $fatal(1, "%m: CONTEXTS %0d must be 1 to %0d", CONTEXTS, step_pkg::MAX_CONTEXTS);
  end

  // ---------------------------------------------------------------------------------------------
  // State
  // ---------------------------------------------------------------------------------------------
  logic busy_q, read_q, start, stop;
  assign busy_o = busy_q;
  assign read_o = read_q;
  assign idle_o = !busy_q && !read_q;
  assign start = run_i && !busy_q;
  assign start_o = start;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      read_q <= 1'b0;
    end else begin
      busy_q <= start || (busy_q && !done_o);
      read_q <= done_o || (read_q && !clear_i && !run_i);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The item to fetch
  // ---------------------------------------------------------------------------------------------
  localparam logic [1:0] BEFORE = 2'd0;  // trace
  localparam logic [1:0] WORDS = 2'd1;
  localparam logic [1:0] AFTER = 2'd2;  // trace
  localparam logic [1:0] END = 2'd3;

  logic [1:0] item_q;
  logic [PC_W-1:0] pc_q;
  logic [PC_W:0] words_left_q;
  logic [ENTRY_W-1:0] entry_q;
  logic [ENTRY_W:0] entries_left_q;
  logic [COUNT_W-1:0] steps_left_q, save_left_q, every_left_q;
  logic saved_q, saved_d, special_d, advance;
  logic step_ends, enter;

  // What a count says is known one cycle ahead, so that no comparison stands before a decision.
  logic last_word_q, last_entry_q, last_step_q;  // the count is 1
  logic save_due_q, every_due_q;  // the count is 1
  logic some_before_q, some_after_q, some_save_q, some_every_q, no_step_q;  // of the operands
  logic one_before_q, one_after_q, one_save_q, one_every_q, one_step_q, one_main_q, one_special_q;

  always_ff @(posedge clk_i) begin
    some_before_q <= before_i != '0;
    some_after_q <= after_i != '0;
    some_save_q <= save_i != '0;
    some_every_q <= every_i != '0;
    no_step_q <= steps_i == '0;
    one_before_q <= before_i == (ENTRY_W + 1)'(1);
    one_after_q <= after_i == (ENTRY_W + 1)'(1);
    one_save_q <= save_i == COUNT_W'(1);
    one_every_q <= every_i == COUNT_W'(1);
    one_step_q <= steps_i == COUNT_W'(1);
    one_main_q <= main_length_i == (PC_W + 1)'(1);
    one_special_q <= special_length_i == (PC_W + 1)'(1);
  end

  assign step_ends = item_q == AFTER ? last_entry_q
                   : item_q == WORDS && last_word_q && !(saved_q && some_after_q);
  assign enter = start || (step_ends && !last_step_q);
  assign saved_d = some_save_q && (start || save_due_q);
  assign special_d = some_every_q && !start && every_due_q;

  always_ff @(posedge clk_i) begin
    if (start || (busy_q && advance)) begin
      if (start && no_step_q) begin
        item_q <= END;
      end else if (enter) begin
        item_q <= saved_d && some_before_q ? BEFORE : WORDS;
        pc_q <= special_d ? special_start_i : main_start_i;
        words_left_q <= special_d ? special_length_i : main_length_i;
        last_word_q <= special_d ? one_special_q : one_main_q;
        entry_q <= entry_i;
        entries_left_q <= before_i;
        last_entry_q <= one_before_q;
        saved_q <= saved_d;
        steps_left_q <= start ? steps_i : steps_left_q - 1'b1;
        last_step_q <= start ? one_step_q : steps_left_q == COUNT_W'(2);
        save_left_q <= saved_d ? save_i : save_left_q - 1'b1;
        save_due_q <= saved_d ? one_save_q : save_left_q == COUNT_W'(2);
        every_left_q <= start || special_d ? every_i : every_left_q - 1'b1;
        every_due_q <= start || special_d ? one_every_q : every_left_q == COUNT_W'(2);
      end else if (step_ends) begin
        item_q <= END;
      end else if (item_q == WORDS) begin
        pc_q <= pc_q + 1'b1;
        words_left_q <= words_left_q - 1'b1;
        last_word_q <= words_left_q == (PC_W + 1)'(2);
        if (last_word_q) begin
          item_q <= AFTER;
          entries_left_q <= after_i;
          last_entry_q <= one_after_q;
        end
      end else if (item_q != END) begin
        entry_q <= entry_q + 1'b1;
        entries_left_q <= entries_left_q - 1'b1;
        last_entry_q <= entries_left_q == (ENTRY_W + 1)'(2);
        if (last_entry_q) begin
          item_q <= WORDS;
        end
      end
    end
  end

  // Trace list (distributed RAM)
  logic [LOCATION_W-1:0] list_q[step_pkg::places(TRACE_REGISTERS)];
  logic [LOCATION_W-1:0] list_data;
  assign list_data = list_q[busy_q ? entry_q : list_index_i];
  assign list_data_o = list_data;

  always_ff @(posedge clk_i) begin
    if (list_write_i) begin
      list_q[list_index_i] <= list_data_i;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The item that is fetched, and the one that is executed
  // ---------------------------------------------------------------------------------------------
  logic step_over_q;  // the last word of a step was executed in the cycle before
  logic fetched_valid_q, executed_valid_q, fetched_last_q, executed_last_q;
  logic [1:0] fetched_q, executed_q;
  logic [LOCATION_W-1:0] location_q, location;
  logic [BANK_W-1:0] bank_q;
  logic host, executing, at_trace, tracing, settling, last_context;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      fetched_q <= item_q;
      fetched_last_q <= last_word_q;
      location_q <= list_data;
      executed_q <= fetched_q;
      executed_last_q <= fetched_last_q;
    end
    if (host || advance) begin
      bank_q <= location[LOCATION_W-1:FILE_W];
    end
    if (host) begin
      fetched_valid_q <= 1'b0;
      executed_valid_q <= 1'b0;
    end else if (advance) begin
      fetched_valid_q <= 1'b1;
      executed_valid_q <= fetched_valid_q;
    end
  end

  assign host = !rst_ni || !busy_q || done_o;
  assign executing = executed_valid_q && executed_q == WORDS;
  assign at_trace = executed_valid_q && (executed_q == BEFORE || executed_q == AFTER);
  assign settling = CONTEXTS > 1 && step_over_q;
  assign tracing = at_trace && !settling;
  assign advance = executing ? last_context : !(at_trace && (full_i || settling));

  assign fetch_o = busy_q && advance;
  assign pc_o = pc_q;
  assign load_o = host || advance;
  assign access_o = host || !(fetched_valid_q && fetched_q == WORDS);
  assign location = host ? host_location_i : location_q;
  assign address_o = location[ADDRESS_W-1:0];
  assign bank_o = bank_q;
  assign push_o = tracing && !stop;

  if (CONTEXTS <= 1) begin : gen_context
    assign context_o = '0;
    assign last_context = 1'b1;
  end else begin : gen_contexts
    logic [CONTEXT_W-1:0] context_q;
    logic last_context_q;

    always_ff @(posedge clk_i) begin
      if (load_o) begin
        context_q <= access_o ? CONTEXT_W'({1'b0, location[FILE_W-1:0]} >> ADDRESS_W) : '0;
        last_context_q <= 1'b0;
      end else if (executing) begin
        context_q <= context_q + 1'b1;
        last_context_q <= context_q == CONTEXT_W'(CONTEXTS - 2);
      end
    end

    assign context_o = context_q;
    assign last_context = last_context_q;
  end

  // ---------------------------------------------------------------------------------------------
  // Behind a step
  // ---------------------------------------------------------------------------------------------
  logic [COUNT_W-1:0] steps_done_q;

  assign stop = step_over_q && fault_i;
  assign done_o = stop || (executed_valid_q && executed_q == END);
  assign steps_done_o = steps_done_q;

  always_ff @(posedge clk_i) begin
    step_over_q <= !host && executing && executed_last_q && last_context;
    if (!rst_ni || start) begin
      steps_done_q <= '0;
    end else if (step_over_q && !stop) begin
      steps_done_q <= steps_done_q + 1'b1;
    end
  end

endmodule
