// Step array: runs recorded kernels for streams of calls (docs/register_map.md). DATAPATHS
// datapaths of the step engine, each a barrel of CONTEXTS, execute one program that is handed from
// one to the next; each of the DATAPATHS * CONTEXTS systems works on a call of its own. Calls come
// in on an AXI4-Stream, results go out on another one; the rest is behind AXI4-Lite registers.
//
// Software stores program, segments, functions (array_sequencer) and what registers of the file
// hold, in all datapaths alike, and starts a run of CALLS calls. A call is one packet, its TUSER
// the number of a function; its results are a packet for each pass of a segment that emits, in the
// order of the calls, with a fault bit above the number of the function. Float formats of up to 32
// bits; a float stands in the low bits of its word, the rest reads as zero. Calls are taken only
// during a run. The run is over when all calls were taken and all results have been accepted.
//
// Bus, commands and status: coprocessor_control. The parts: array_loader, array_sequencer (with
// array_program), array_core, array_drain.
//
// With RARE_LOGIC reciprocal, sine and cosine have no multipliers, but more latency (step_rare).
//
// Latency of a call: once its batch is complete, about 20 cycles, CONTEXTS for each word of the
// function and each datapath. Throughput: one beat a cycle in and out, one program word in CONTEXTS
// cycles for all systems; batches follow each other without a bubble if they come in in time.

module step_array
  import step_array_regs_pkg::*;
#(
  parameter int NUM_ADD = 2,
  parameter int NUM_MUL = 2,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 3,
  parameter int MUL_STAGES = 2,
  parameter int REC_STAGES = 6,
  parameter int SINCOS_STAGES = 13,
  parameter int RARE_LOGIC = 0,
  parameter int DEPTH = 64,
  parameter int CONTEXTS = 8,
  parameter int READ_STAGES = CONTEXTS > 2 ? 2 : CONTEXTS - 1,
  parameter int OPERAND_STAGES = CONTEXTS > 3 ? 1 : 0,
  parameter int BLOCK_RAM = READ_STAGES > 0 ? 1 : 0,
  parameter int DATAPATHS = 2,
  // verilator lint_off VARHIDDEN  // the registers that hold these parameters have their names
  parameter int PROGRAM_DEPTH = 1024,
  parameter int IN_DEPTH = 64,
  parameter int OUT_DEPTH = 64,
  parameter int SCRATCH_DEPTH = 0,
  // verilator lint_on VARHIDDEN
  parameter int SEGMENTS = 64,
  parameter int FUNCTIONS = 16,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int FUNCTION_W = step_pkg::index_w(FUNCTIONS)
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic [ADDR_W-1:0] s_axil_awaddr,
  input  logic [2:0]        s_axil_awprot,
  input  logic              s_axil_awvalid,
  output logic              s_axil_awready,
  input  logic [DATA_W-1:0] s_axil_wdata,
  input  logic [STRB_W-1:0] s_axil_wstrb,
  input  logic              s_axil_wvalid,
  output logic              s_axil_wready,
  output logic [1:0]        s_axil_bresp,
  output logic              s_axil_bvalid,
  input  logic              s_axil_bready,
  input  logic [ADDR_W-1:0] s_axil_araddr,
  input  logic [2:0]        s_axil_arprot,
  input  logic              s_axil_arvalid,
  output logic              s_axil_arready,
  output logic [DATA_W-1:0] s_axil_rdata,
  output logic [1:0]        s_axil_rresp,
  output logic              s_axil_rvalid,
  input  logic              s_axil_rready,

  output logic irq_o,

  input  logic [DATA_W-1:0]     s_axis_tdata,
  input  logic [FUNCTION_W-1:0] s_axis_tuser,
  input  logic                  s_axis_tlast,
  input  logic                  s_axis_tvalid,
  output logic                  s_axis_tready,

  output logic [DATA_W-1:0]   m_axis_tdata,
  output logic [FUNCTION_W:0] m_axis_tuser,
  output logic                m_axis_tlast,
  output logic                m_axis_tvalid,
  input  logic                m_axis_tready
);

  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL);
  localparam int BANK_W = $clog2(BANKS);
  localparam int ADDRESSES = CONTEXTS * DEPTH;  // of a bank
  localparam int FILE_W = step_pkg::index_w(ADDRESSES);
  localparam int LOCATION_W = BANK_W + FILE_W;
  localparam int PC_W = step_pkg::index_w(PROGRAM_DEPTH);
  localparam int IN_W = step_pkg::index_w(IN_DEPTH);
  localparam int OUT_W = step_pkg::index_w(OUT_DEPTH);
  localparam int IN_NUMBER_W = step_pkg::number_w(IN_DEPTH, SCRATCH_DEPTH);
  localparam int OUT_NUMBER_W = step_pkg::number_w(OUT_DEPTH, SCRATCH_DEPTH);
  localparam int IN_ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, IN_DEPTH);
  localparam int OUT_ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, OUT_DEPTH);
  localparam int V_W = array_pkg::datapath_w(DATAPATHS);
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS);
  localparam int SEGMENT_W = step_pkg::index_w(SEGMENTS);
  localparam int REPEAT_W = 16;
  localparam int WORD_BITS =
      step_pkg::stream_word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS, IN_DEPTH, OUT_DEPTH,
                              SCRATCH_DEPTH);
  localparam int BUS_WORDS = (WORD_BITS + DATA_W - 1) / DATA_W;
  localparam int LOCATION_HALF_W = step_pkg::LOCATION_HALF_W;
  localparam int SETUP = 3;  // registers in which a segment or function is checked, of answers
  localparam int LANES_FIELD = 1 << LANES_NUM_ADD_W;
  localparam int MOST_SEGMENTS = (1 << ARRAY_SEGMENTS_W) - 1;
  localparam int MOST_FUNCTIONS = (1 << ARRAY_FUNCTIONS_W) - 1;

  localparam logic [DATA_W-1:0] CONFIG_VALUE =
      (EXP_W << CONFIG_EXP_W) | (MAN_W << CONFIG_MAN_W) | (ADD_STAGES << CONFIG_ADD_STAGES) |
      (MUL_STAGES << CONFIG_MUL_STAGES) | (REC_STAGES << CONFIG_REC_STAGES) |
      (CONTEXTS << CONFIG_CONTEXTS);
  localparam logic [DATA_W-1:0] LANES_VALUE =
      (NUM_ADD << LANES_NUM_ADD) | (NUM_MUL << LANES_NUM_MUL) |
      (SINCOS_STAGES << LANES_SINCOS_STAGES) | (READ_STAGES << LANES_READ_STAGES) |
      (OPERAND_STAGES << LANES_OPERAND_STAGES) | (RARE_LOGIC << LANES_RARE_LOGIC);
  localparam logic [DATA_W-1:0] ARRAY_VALUE =
      (DATAPATHS << ARRAY_DATAPATHS) | (SEGMENTS << ARRAY_SEGMENTS) |
      (FUNCTIONS << ARRAY_FUNCTIONS);

  if (REC_STAGES >= 1 << CONFIG_REC_STAGES_W) begin : gen_check_rec_stages
    initial $fatal(1, "%m: REC_STAGES %0d does not fit register CONFIG, must be at most %0d",
                   REC_STAGES, (1 << CONFIG_REC_STAGES_W) - 1);
  end
  if (NUM_ADD >= LANES_FIELD || NUM_MUL >= LANES_FIELD) begin : gen_check_lanes
    initial $fatal(1, "%m: NUM_ADD %0d and NUM_MUL %0d must be below %0d",
                   NUM_ADD, NUM_MUL, LANES_FIELD);
  end
  if (ADDRESSES > 1 << LOCATION_HALF_W) begin : gen_check_depth
    initial $fatal(1, "%m: DEPTH %0d of %0d contexts does not fit a location", DEPTH, CONTEXTS);
  end
  if (BUS_WORDS > PROGRAM_WORD_WORDS) begin : gen_check_word
    initial $fatal(1, "%m: a program word of %0d bits does not fit the registers", WORD_BITS);
  end
  if (SEGMENTS > MOST_SEGMENTS || FUNCTIONS > MOST_FUNCTIONS) begin : gen_check_tables
    initial $fatal(1, "%m: SEGMENTS %0d must be at most %0d, FUNCTIONS %0d at most %0d",
                   SEGMENTS, MOST_SEGMENTS, FUNCTIONS, MOST_FUNCTIONS);
  end

  // ---------------------------------------------------------------------------------------------
  // Bus, control and status
  // ---------------------------------------------------------------------------------------------
  logic write, write_hit, read, read_hit;
  logic [WORD_W-1:0] write_addr, read_addr;
  logic [DATA_W-1:0] write_data, write_mask, read_data, options;
  // A reset reaches the parts a cycle after its write, as it goes far; so does a clear. STATUS
  // shows them at once. A run that ends in the very cycle of a clear stays done.
  logic engine_rst_n, reset_q, parts_rst_n, runnable_q, run, clear, clear_q;
  logic idle, busy, done_state, done;
  logic [DATA_W-1:0] calls_taken, calls_given, calls_dropped, word_cycles;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  coprocessor_control #(
    .ID_VALUE("SARR"),
    .VERSION_VALUE(32'h0001_0002),
    .CONFIG_VALUE(CONFIG_VALUE),
    .SETUP(SETUP)
  ) u_control (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr,
    .s_axil_awprot,
    .s_axil_awvalid,
    .s_axil_awready,
    .s_axil_wdata,
    .s_axil_wstrb,
    .s_axil_wvalid,
    .s_axil_wready,
    .s_axil_bresp,
    .s_axil_bvalid,
    .s_axil_bready,
    .s_axil_araddr,
    .s_axil_arprot,
    .s_axil_arvalid,
    .s_axil_arready,
    .s_axil_rdata,
    .s_axil_rresp,
    .s_axil_rvalid,
    .s_axil_rready,
    .irq_o,
    .write_o(write),
    .write_addr_o(write_addr),
    .write_data_o(write_data),
    .write_mask_o(write_mask),
    .write_is_operand_i(write_hit),
    .read_o(read),
    .read_addr_o(read_addr),
    .read_data_i(read_data),
    .read_hit_i(read_hit),
    .read_is_operand_i(1'b0),
    .engine_rst_no(engine_rst_n),
    .runnable_i(runnable_q),
    .run_o(run),
    .clear_o(clear),
    .options_o(options),
    .idle_i(idle || clear_q || !parts_rst_n),
    .busy_i(busy && parts_rst_n),
    .done_state_i(done_state && !clear_q && parts_rst_n),
    .done_i(done && parts_rst_n),
    .fault_i(calls_dropped != '0),
    .flags_i(flags)
  );

  // ---------------------------------------------------------------------------------------------
  // Locations on the bus and inside, as in step_engine
  // ---------------------------------------------------------------------------------------------
  function automatic logic [DATA_W-1:0] to_bus(input logic [LOCATION_W-1:0] location);
    return {LOCATION_HALF_W'(location[FILE_W+:BANK_W]), LOCATION_HALF_W'(location[0+:FILE_W])};
  endfunction

  // verilator lint_off UNUSEDSIGNAL  // the bits between are checked by is_location
  function automatic logic [LOCATION_W-1:0] from_bus(input logic [DATA_W-1:0] word);
    return {word[LOCATION_HALF_W+:BANK_W], word[0+:FILE_W]};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---------------------------------------------------------------------------------------------
  // Registers
  // ---------------------------------------------------------------------------------------------
  // What a write writes, and the same a cycle ahead, for the hardware to say whether it can be.
  // Most are wider than what they describe, which is checked where that is stored.
  // verilator lint_off UNUSEDSIGNAL
  logic [DATA_W-1:0] segment_start, segment_length, segment_repeat, segment_flags;
  logic [DATA_W-1:0] segment_in_base, segment_in_stride, segment_out_base, segment_out_stride;
  logic [DATA_W-1:0] function_first, function_last, function_loop_from, function_loops;
  logic [DATA_W-1:0] function_inputs, function_outputs;
  logic [BUS_WORDS*DATA_W-1:0] stored_word;
  logic [DATA_W-1:0] new_segment, new_function, new_pc, new_file;
  // verilator lint_on UNUSEDSIGNAL
  logic [DATA_W-1:0] merged_segment, merged_function, merged_pc, merged_file, calls;
  logic store_segment, store_function, store_word, write_address, write_file;
  logic segment_ok_q, function_ok_q;
  logic [W-1:0] new_data, merged_data;
  logic [SEGMENT_W-1:0] segment_q;
  logic [FUNCTION_W-1:0] function_q;
  logic [PC_W-1:0] store_pc_q;
  logic [LOCATION_W-1:0] file_q;

  step_array_regs #(
    .BUS_WORDS(BUS_WORDS),
    .W(W)
  ) u_registers (
    .clk_i,
    .rst_ni,
    .write_i(write),
    .write_addr_i(write_addr),
    .write_data_i(write_data),
    .write_mask_i(write_mask),
    .write_hit_o(write_hit),
    .read_addr_i(read_addr),
    .read_data_o(read_data),
    .read_hit_o(read_hit),
    .calls_o(calls),
    .segment_start_o(segment_start),
    .segment_length_o(segment_length),
    .segment_repeat_o(segment_repeat),
    .segment_in_base_o(segment_in_base),
    .segment_in_stride_o(segment_in_stride),
    .segment_out_base_o(segment_out_base),
    .segment_out_stride_o(segment_out_stride),
    .segment_flags_o(segment_flags),
    .function_first_o(function_first),
    .function_last_o(function_last),
    .function_loop_from_o(function_loop_from),
    .function_loops_o(function_loops),
    .function_inputs_o(function_inputs),
    .function_outputs_o(function_outputs),
    .program_word_o(stored_word),
    .lanes_i(LANES_VALUE),
    .file_depth_i(DEPTH),
    .program_depth_i(PROGRAM_DEPTH),
    .in_depth_i(IN_DEPTH),
    .out_depth_i(OUT_DEPTH),
    .scratch_depth_i(SCRATCH_DEPTH),
    .array_i(ARRAY_VALUE),
    .calls_taken_i(calls_taken),
    .calls_given_i(calls_given),
    .dropped_i(calls_dropped),
    .word_cycles_i(word_cycles),
    .segment_store_i(DATA_W'(segment_q)),
    .segment_store_ok_i(merged_segment < SEGMENTS && segment_ok_q),
    .segment_store_write_o(store_segment),
    .segment_store_o(new_segment),
    .segment_store_merged_o(merged_segment),
    .function_store_i(DATA_W'(function_q)),
    .function_store_ok_i(merged_function < FUNCTIONS && function_ok_q),
    .function_store_write_o(store_function),
    .function_store_o(new_function),
    .function_store_merged_o(merged_function),
    .file_address_i(to_bus(file_q)),
    .file_address_ok_i(step_pkg::is_location(merged_file, BANKS, ADDRESSES)),
    .file_address_write_o(write_address),
    .file_address_o(new_file),
    .file_address_merged_o(merged_file),
    .file_data_i(W'(0)),
    .file_data_ok_i(&write_mask[W-1:0]),
    .file_data_write_o(write_file),
    .file_data_o(new_data),
    .file_data_merged_o(merged_data),
    .program_store_i(DATA_W'(store_pc_q)),
    .program_store_ok_i(merged_pc < PROGRAM_DEPTH),
    .program_store_write_o(store_word),
    .program_store_o(new_pc),
    .program_store_merged_o(merged_pc)
  );

  // What was stored last, and the location that moves with each write. A function may have segments
  // that were stored one after the other, from 0 on: what others hold is not known.
  localparam int SEGMENTS_W = step_pkg::index_w(SEGMENTS + 1);
  logic [SEGMENTS_W-1:0] segments_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      segment_q <= '0;
      segments_q <= '0;
      function_q <= '0;
      store_pc_q <= '0;
      file_q <= '0;
    end else begin
      if (store_segment) begin
        segment_q <= new_segment[SEGMENT_W-1:0];
        segments_q <= segments_q + SEGMENTS_W'(new_segment == DATA_W'(segments_q));
      end
      if (store_function) begin
        function_q <= new_function[FUNCTION_W-1:0];
      end
      if (store_word) begin
        store_pc_q <= new_pc[PC_W-1:0];
      end
      if (write_address) begin
        file_q <= from_bus(new_file);
      end else if (write_file) begin
        file_q <= from_bus(step_pkg::next_location(to_bus(file_q), BANKS, ADDRESSES));
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // May this segment or function be stored, these calls be run?
  // ---------------------------------------------------------------------------------------------
  function automatic logic is_count(input logic [DATA_W-1:0] count, input int most);
    return count != '0 && count <= DATA_W'(most);
  endfunction

  localparam int MAX_REPEAT = (1 << REPEAT_W) - 1;

  logic segment_counts_q, function_order_q, function_loops_q, function_sizes_q;
  logic [PC_W+1:0] segment_end_q;

  always_ff @(posedge clk_i) begin
    segment_counts_q <= segment_start < PROGRAM_DEPTH &&
                        is_count(segment_length, PROGRAM_DEPTH) &&
                        is_count(segment_repeat, MAX_REPEAT);
    segment_end_q <= (PC_W + 2)'(segment_start[PC_W-1:0]) + (PC_W + 2)'(segment_length[PC_W:0]);
    segment_ok_q <= segment_counts_q && 32'(segment_end_q) <= PROGRAM_DEPTH;
    function_order_q <= function_first <= function_loop_from &&
                        function_loop_from <= function_last &&
                        function_last < DATA_W'(segments_q);
    function_loops_q <= is_count(function_loops, MAX_REPEAT);
    function_sizes_q <= is_count(function_inputs, IN_DEPTH) &&
                        is_count(function_outputs, OUT_DEPTH);
    function_ok_q <= function_order_q && function_loops_q && function_sizes_q;
    runnable_q <= calls != '0;
  end

  // ---------------------------------------------------------------------------------------------
  // Register writes of the host: they go down the chain and are not stopped by a reset of a run
  // ---------------------------------------------------------------------------------------------
  localparam int TRAVEL = DATAPATHS + 1;  // cycles until the last datapath has stored
  localparam int TRAVEL_W = $clog2(TRAVEL + 1);

  logic host_q, travelling, core_rst_n;
  logic [LOCATION_W-1:0] host_location_q;
  logic [W-1:0] host_data_q;
  logic [TRAVEL_W-1:0] travel_q;
  assign travelling = travel_q != '0;
  assign parts_rst_n = rst_ni && !reset_q;
  assign core_rst_n = rst_ni && (!reset_q || travelling);

  // Commands go far: a register stands before them. What is stored stands on. That all is done is
  // found out far away, too: a run ends a cycle behind it.
  logic loaded, drained;
  logic run_q, finished_q, store_segment_q, store_function_q, store_word_q;

  always_ff @(posedge clk_i) begin
    run_q <= rst_ni && run;
    clear_q <= rst_ni && clear && done_state;
    finished_q <= busy && loaded && drained;
    store_segment_q <= rst_ni && store_segment;
    store_function_q <= rst_ni && store_function;
    store_word_q <= rst_ni && store_word;
    reset_q <= !engine_rst_n;
    host_location_q <= file_q;
    host_data_q <= new_data;
    if (!rst_ni) begin
      host_q <= 1'b0;
      travel_q <= '0;
    end else begin
      host_q <= write_file;
      travel_q <= write_file ? TRAVEL_W'(TRAVEL) : travel_q - TRAVEL_W'(travelling);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Calls in, words, results out
  // ---------------------------------------------------------------------------------------------
  logic start;
  logic in_write;
  logic [V_W-1:0] in_datapath, out_datapath;
  logic [IN_ADDRESS_W-1:0] in_address;
  logic [OUT_ADDRESS_W-1:0] out_address;
  logic [W-1:0] in_data, out_data;
  logic out_fault;
  logic batch_valid, batch_half, batch_take, released;
  logic [FUNCTION_W-1:0] batch_function, out_take_function;
  logic [LIVE_W-1:0] batch_count, out_take_count, live;
  logic [1:0] out_free;
  logic out_take, out_take_half, emitted, emitted_half;
  logic advance, in_half, out_half, first, emit_end, release_half;
  logic [WORD_BITS-1:0] word;

  // The rest of a packet that a reset with CTRL.DISCARD cut is taken and dropped. The command
  // stands beside the reset's register, so that the last beat that the loader takes is counted.
  logic in_packet_d, in_packet_q, discard_q, discarding_q, loader_ready;
  assign s_axis_tready = loader_ready || discarding_q;
  assign in_packet_d = s_axis_tvalid && s_axis_tready ? !s_axis_tlast : in_packet_q;

  always_ff @(posedge clk_i) begin
    discard_q <= write_data[CTRL_DISCARD] && write_mask[CTRL_DISCARD];
    if (!rst_ni) begin
      in_packet_q <= 1'b0;
      discarding_q <= 1'b0;
    end else begin
      in_packet_q <= in_packet_d;
      discarding_q <= (reset_q ? discard_q : discarding_q) && in_packet_d;
    end
  end

  array_loader #(
    .W(W),
    .CONTEXTS(CONTEXTS),
    .DATAPATHS(DATAPATHS),
    .IN_DEPTH(IN_DEPTH),
    .FUNCTIONS(FUNCTIONS)
  ) u_loader (
    .clk_i,
    .rst_ni,
    .clear_i(!parts_rst_n),
    .start_i(start),
    .calls_i(calls),
    .finished_o(loaded),
    .taken_o(calls_taken),
    .dropped_o(calls_dropped),
    .function_store_i(store_function_q),
    .function_number_i(new_function[FUNCTION_W-1:0]),
    .function_inputs_i(function_inputs[IN_W:0]),
    .s_axis_tdata,
    .s_axis_tuser,
    .s_axis_tlast,
    .s_axis_tvalid(s_axis_tvalid && !discarding_q),
    .s_axis_tready(loader_ready),
    .write_o(in_write),
    .write_datapath_o(in_datapath),
    .write_address_o(in_address),
    .write_data_o(in_data),
    .batch_valid_o(batch_valid),
    .batch_half_o(batch_half),
    .batch_function_o(batch_function),
    .batch_count_o(batch_count),
    .batch_take_i(batch_take),
    .released_i(released)
  );

  array_sequencer #(
    .NUM_ADD(NUM_ADD),
    .NUM_MUL(NUM_MUL),
    .DEPTH(DEPTH),
    .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .CONTEXTS(CONTEXTS),
    .DATAPATHS(DATAPATHS),
    .IN_DEPTH(IN_DEPTH),
    .OUT_DEPTH(OUT_DEPTH),
    .SCRATCH_DEPTH(SCRATCH_DEPTH),
    .SEGMENTS(SEGMENTS),
    .FUNCTIONS(FUNCTIONS),
    .REPEAT_W(REPEAT_W)
  ) u_sequencer (
    .clk_i,
    .rst_ni(parts_rst_n),
    .run_i(run_q),
    .clear_i(clear_q),
    .idle_o(idle),
    .busy_o(busy),
    .read_o(done_state),
    .done_o(done),
    .start_o(start),
    .finished_i(finished_q),
    .hold_i(travelling),
    .word_cycles_o(word_cycles),
    .program_store_i(store_word_q),
    .program_pc_i(new_pc[PC_W-1:0]),
    .program_word_i(stored_word[WORD_BITS-1:0]),
    .segment_store_i(store_segment_q),
    .segment_number_i(new_segment[SEGMENT_W-1:0]),
    .segment_start_i(segment_start[PC_W-1:0]),
    .segment_length_i(segment_length[PC_W:0]),
    .segment_repeat_i(segment_repeat[REPEAT_W-1:0]),
    .segment_in_base_i(segment_in_base[IN_NUMBER_W-1:0]),
    .segment_in_stride_i(segment_in_stride[IN_NUMBER_W-1:0]),
    .segment_out_base_i(segment_out_base[OUT_NUMBER_W-1:0]),
    .segment_out_stride_i(segment_out_stride[OUT_NUMBER_W-1:0]),
    .segment_quiet_i(segment_flags[SEGMENT_FLAGS_QUIET]),
    .segment_emit_i(segment_flags[SEGMENT_FLAGS_EMIT]),
    .function_store_i(store_function_q),
    .function_number_i(new_function[FUNCTION_W-1:0]),
    .function_first_i(function_first[SEGMENT_W-1:0]),
    .function_last_i(function_last[SEGMENT_W-1:0]),
    .function_loop_from_i(function_loop_from[SEGMENT_W-1:0]),
    .function_loops_i(function_loops[REPEAT_W-1:0]),
    .batch_valid_i(batch_valid),
    .batch_half_i(batch_half),
    .batch_function_i(batch_function),
    .batch_count_i(batch_count),
    .batch_take_o(batch_take),
    .out_free_i(out_free),
    .out_take_o(out_take),
    .out_take_half_o(out_take_half),
    .out_take_function_o(out_take_function),
    .out_take_count_o(out_take_count),
    .advance_o(advance),
    .word_o(word),
    .live_o(live),
    .in_half_o(in_half),
    .out_half_o(out_half),
    .first_o(first),
    .emit_end_o(emit_end),
    .release_o(release_half)
  );

  array_core #(
    .NUM_ADD(NUM_ADD),
    .NUM_MUL(NUM_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .ADD_STAGES(ADD_STAGES),
    .MUL_STAGES(MUL_STAGES),
    .REC_STAGES(REC_STAGES),
    .SINCOS_STAGES(SINCOS_STAGES),
    .RARE_LOGIC(RARE_LOGIC),
    .DEPTH(DEPTH),
    .CONTEXTS(CONTEXTS),
    .READ_STAGES(READ_STAGES),
    .OPERAND_STAGES(OPERAND_STAGES),
    .BLOCK_RAM(BLOCK_RAM),
    .DATAPATHS(DATAPATHS),
    .IN_DEPTH(IN_DEPTH),
    .OUT_DEPTH(OUT_DEPTH),
    .SCRATCH_DEPTH(SCRATCH_DEPTH)
  ) u_core (
    .clk_i,
    .rst_ni(core_rst_n),
    .start_i(start),
    .advance_i(advance),
    .word_i(word),
    .live_i(live),
    .in_half_i(in_half),
    .out_half_i(out_half),
    .first_i(first),
    .emit_end_i(emit_end),
    .release_i(release_half),
    .host_i(host_q),
    .host_bank_i(host_location_q[FILE_W+:BANK_W]),
    .host_address_i(host_location_q[FILE_W-1:0]),
    .host_data_i(host_data_q),
    .emitted_o(emitted),
    .emitted_half_o(emitted_half),
    .released_o(released),
    .in_write_i(in_write),
    .in_datapath_i(in_datapath),
    .in_address_i(in_address),
    .in_data_i(in_data),
    .out_datapath_i(out_datapath),
    .out_address_i(out_address),
    .out_data_o(out_data),
    .out_fault_o(out_fault),
    .flags_o(flags)
  );

  array_drain #(
    .W(W),
    .CONTEXTS(CONTEXTS),
    .DATAPATHS(DATAPATHS),
    .OUT_DEPTH(OUT_DEPTH),
    .FUNCTIONS(FUNCTIONS)
  ) u_drain (
    .clk_i,
    .clear_i(!parts_rst_n),
    .start_i(start),
    .finished_o(drained),
    .given_o(calls_given),
    .function_store_i(store_function_q),
    .function_number_i(new_function[FUNCTION_W-1:0]),
    .function_outputs_i(function_outputs[OUT_W:0]),
    .free_o(out_free),
    .take_i(out_take),
    .take_half_i(out_take_half),
    .take_function_i(out_take_function),
    .take_count_i(out_take_count),
    .emitted_i(emitted),
    .emitted_half_i(emitted_half),
    .read_datapath_o(out_datapath),
    .read_address_o(out_address),
    .read_data_i(out_data),
    .read_fault_i(out_fault),
    .m_axis_tdata,
    .m_axis_tuser,
    .m_axis_tlast,
    .m_axis_tvalid,
    .m_axis_tready
  );

  logic unused;
  assign unused = &{1'b0, options, read, merged_data};

endmodule
