// Step engine: runs a program for whole time steps, behind AXI4-Lite registers
// (docs/register_map.md). A very long instruction word machine without control flow: few pipelined
// float lanes, a banked register file, a program memory, and a trace of chosen registers
// (pymodel/machine/isa.py describes the machine and its words, pymodel/machine/model.py is its
// twin).
//
// Software writes program, registers and trace list, starts a run of STEPS steps, empties the trace
// meanwhile, and reads the registers. The memories hold several programs at once; PROGRAM tells
// which one runs, a table in step_engine_regs where it and its part of the trace list stand. Float
// formats of up to 32 bits; a float stands in the low bits of its word, the rest reads as zero.
//
// Bus, commands and status: coprocessor_control. The parts: step_sequencer, step_program,
// step_datapath (with step_bank), step_rare, step_trace.
//
// The engine is a barrel of CONTEXTS: each program word is executed for one context after the
// other, each with DEPTH registers a bank of its own. That hides READ_STAGES registers behind the
// banks (block RAM if BLOCK_RAM), OPERAND_STAGES inside the operand multiplexers, and deeper units.
//
// Latency of a run: one cycle, which CYCLES does not count; 3 cycles, CONTEXTS for each word of
// each step, one for each traced register, those in which the trace is full, and with several
// contexts one for each time that registers are traced right behind a step. Throughput: one program
// word in CONTEXTS cycles, one operation a lane and cycle.

module step_engine
  import step_engine_regs_pkg::*;
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
  // verilator lint_off VARHIDDEN  // the registers that hold these parameters have their names
  parameter int PROGRAM_DEPTH = 1024,
  parameter int TRACE_DEPTH = 512,
  parameter int TRACE_REGISTERS = 128,
  parameter int PROGRAMS = 16,
  // verilator lint_on VARHIDDEN
  parameter int CONTEXTS = 1,
  parameter int READ_STAGES = CONTEXTS > 2 ? 2 : CONTEXTS - 1,
  parameter int OPERAND_STAGES = CONTEXTS > 3 ? 1 : 0,
  parameter int BLOCK_RAM = READ_STAGES > 0 ? 1 : 0,
  localparam int W = 1 + EXP_W + MAN_W
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

  output logic irq_o
);

  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL);
  localparam int BANK_W = $clog2(BANKS);
  localparam int ADDRESS_W = step_pkg::index_w(DEPTH);
  localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS);
  localparam int ADDRESSES = CONTEXTS * DEPTH;  // of a bank
  localparam int FILE_W = step_pkg::index_w(ADDRESSES);
  localparam int LOCATION_W = BANK_W + FILE_W;
  localparam int PC_W = step_pkg::index_w(PROGRAM_DEPTH);
  localparam int ENTRY_W = step_pkg::index_w(TRACE_REGISTERS);
  localparam int PROGRAM_W = step_pkg::index_w(PROGRAMS);
  localparam int WORD_BITS = step_pkg::word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS);
  localparam int BUS_WORDS = (WORD_BITS + DATA_W - 1) / DATA_W;
  localparam int TRACE_COUNT_W = step_pkg::index_w(TRACE_DEPTH) + 1;
  localparam int LOCATION_HALF_W = step_pkg::LOCATION_HALF_W;
  // Cycles from a new location to what stands there, in read_data
  localparam int SETUP = 3 + READ_STAGES;
  localparam int LANES_FIELD = 1 << LANES_NUM_ADD_W;

  localparam logic [DATA_W-1:0] CONFIG_VALUE =
      (EXP_W << CONFIG_EXP_W) | (MAN_W << CONFIG_MAN_W) | (ADD_STAGES << CONFIG_ADD_STAGES) |
      (MUL_STAGES << CONFIG_MUL_STAGES) | (REC_STAGES << CONFIG_REC_STAGES) |
      (CONTEXTS << CONFIG_CONTEXTS);
  localparam logic [DATA_W-1:0] LANES_VALUE =
      (NUM_ADD << LANES_NUM_ADD) | (NUM_MUL << LANES_NUM_MUL) |
      (SINCOS_STAGES << LANES_SINCOS_STAGES) | (READ_STAGES << LANES_READ_STAGES) |
      (OPERAND_STAGES << LANES_OPERAND_STAGES) | (RARE_LOGIC << LANES_RARE_LOGIC);

  if (REC_STAGES >= 1 << CONFIG_REC_STAGES_W) begin : gen_check_rec_stages
    initial $fatal(1, "%m: REC_STAGES %0d does not fit register CONFIG, must be at most %0d",
                   REC_STAGES, (1 << CONFIG_REC_STAGES_W) - 1);
  end
  if (W > DATA_W) begin : gen_check_width
    initial $fatal(1, "%m: a float of %0d bits does not fit a word of %0d", W, DATA_W);
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
  if (PROGRAMS < 2) begin : gen_check_programs
    initial $fatal(1, "%m: PROGRAMS %0d must be at least 2", PROGRAMS);
  end

  // ---------------------------------------------------------------------------------------------
  // Bus, control and status
  // ---------------------------------------------------------------------------------------------
  logic write, write_hit, read, read_hit, read_locked;
  logic [WORD_W-1:0] write_addr, read_addr;
  logic [DATA_W-1:0] write_data, write_mask, read_data, options;
  // Commands go far: a register stands before them. STATUS shows reset and clear at once.
  logic engine_rst_n, reset_q, parts_rst_n, runnable_q, run, run_q, clear, clear_q;
  logic idle, busy, done_state, done, fault;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  coprocessor_control #(
    .ID_VALUE("STEP"),
    .VERSION_VALUE(32'h0001_0004),
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
    .read_is_operand_i(read_locked),
    .engine_rst_no(engine_rst_n),
    .runnable_i(runnable_q),
    .run_o(run),
    .clear_o(clear),
    .options_o(options),
    .idle_i(idle || clear_q || !parts_rst_n),
    .busy_i(busy && parts_rst_n),
    .done_state_i(done_state && !clear_q && parts_rst_n),
    .done_i(done && parts_rst_n),
    .fault_i(fault),
    .flags_i(flags)
  );

  // A run that ends in the very cycle of a clear stays done.
  always_ff @(posedge clk_i) begin
    run_q <= rst_ni && run;
    clear_q <= rst_ni && clear && done_state;
    reset_q <= !engine_rst_n;
  end

  assign parts_rst_n = rst_ni && !reset_q;

  // ---------------------------------------------------------------------------------------------
  // Locations on the bus and inside
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
  logic [DATA_W-1:0] steps, save, every, trace_start, trace_before, trace_after;
  logic [DATA_W-1:0] main_start, main_length, special_start, special_length;
  logic [DATA_W-1:0] steps_done, list_on_bus, file_on_bus;
  // What a write writes, and the same a cycle ahead, for the hardware to say whether it can be.
  // verilator lint_off UNUSEDSIGNAL  // high bits: of a program word, of what is found small
  logic [BUS_WORDS*DATA_W-1:0] stored_word;
  logic [DATA_W-1:0] new_pc, new_entry, new_listed, new_file, new_program;
  // verilator lint_on UNUSEDSIGNAL
  logic [DATA_W-1:0] merged_pc, merged_entry, merged_listed, merged_file, merged_program;
  logic select, store, write_entry, write_list, read_list, write_address, write_file, read_file;
  logic pop;
  logic [W-1:0] new_data, tap_data, tap_q, trace_data;
  logic [TRACE_COUNT_W-1:0] trace_count;
  logic [PC_W-1:0] store_pc_q;
  logic [PROGRAM_W-1:0] program_q;
  logic [ENTRY_W-1:0] entry_q;
  logic [LOCATION_W-1:0] file_q, list_entry, list_entry_q;
  assign list_on_bus = to_bus(list_entry_q);
  assign file_on_bus = to_bus(file_q);

  step_engine_regs #(
    .BUS_WORDS(BUS_WORDS),
    .NUM_PROGRAMS(PROGRAMS),
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
    .read_i(read),
    .read_locked_o(read_locked),
    .steps_o(steps),
    .save_o(save),
    .every_o(every),
    .main_start_o(main_start),
    .main_length_o(main_length),
    .special_start_o(special_start),
    .special_length_o(special_length),
    .trace_before_o(trace_before),
    .trace_after_o(trace_after),
    .trace_start_o(trace_start),
    .program_word_o(stored_word),
    .lanes_i(LANES_VALUE),
    .file_depth_i(DEPTH),
    .program_depth_i(PROGRAM_DEPTH),
    .trace_depth_i(TRACE_DEPTH),
    .trace_registers_i(TRACE_REGISTERS),
    .programs_i(PROGRAMS),
    .steps_done_i(steps_done),
    .trace_count_i(DATA_W'(trace_count)),
    .program_i(DATA_W'(program_q)),
    .program_ok_i(merged_program < PROGRAMS),
    .program_write_o(select),
    .program_o(new_program),
    .program_merged_o(merged_program),
    .trace_data_i(trace_data),
    .trace_data_ok_i(trace_count != '0),
    .trace_data_read_o(pop),
    .trace_index_i(DATA_W'(entry_q)),
    .trace_index_ok_i(merged_entry < TRACE_REGISTERS),
    .trace_index_write_o(write_entry),
    .trace_index_o(new_entry),
    .trace_index_merged_o(merged_entry),
    .trace_entry_i(list_on_bus),
    .trace_entry_ok_i(step_pkg::is_location(merged_listed, BANKS, ADDRESSES)),
    .trace_entry_read_o(read_list),
    .trace_entry_write_o(write_list),
    .trace_entry_o(new_listed),
    .trace_entry_merged_o(merged_listed),
    .file_address_i(file_on_bus),
    .file_address_ok_i(step_pkg::is_location(merged_file, BANKS, ADDRESSES)),
    .file_address_write_o(write_address),
    .file_address_o(new_file),
    .file_address_merged_o(merged_file),
    .file_data_i(tap_q),
    .file_data_read_o(read_file),
    .file_data_write_o(write_file),
    .file_data_o(new_data),
    .program_store_i(DATA_W'(store_pc_q)),
    .program_store_ok_i(merged_pc < PROGRAM_DEPTH),
    .program_store_write_o(store),
    .program_store_o(new_pc),
    .program_store_merged_o(merged_pc)
  );

  always_ff @(posedge clk_i) begin
    tap_q <= tap_data;
    list_entry_q <= list_entry;
  end

  // What the host writes or takes goes far, too. The location that stands in the word register, and
  // what was stored last, follow a cycle behind its write as well.
  logic store_q, write_list_q, write_file_q, pop_q;
  logic [ENTRY_W-1:0] list_index_q;
  logic [LOCATION_W-1:0] list_data_q;
  logic [W-1:0] host_data_q;

  always_ff @(posedge clk_i) begin
    store_q <= rst_ni && store;
    write_list_q <= rst_ni && write_list;
    write_file_q <= rst_ni && write_file;
    pop_q <= rst_ni && pop;
    list_index_q <= entry_q;
    list_data_q <= from_bus(new_listed);
    host_data_q <= new_data;
  end

  // The program that runs, the last stored address, and positions that move with each access
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      program_q <= '0;
      store_pc_q <= '0;
      file_q <= '0;
      entry_q <= '0;
    end else begin
      if (select) begin
        program_q <= new_program[PROGRAM_W-1:0];
      end
      if (store) begin
        store_pc_q <= new_pc[PC_W-1:0];
      end
      if (write_address) begin
        file_q <= from_bus(new_file);
      end else if (write_file || read_file) begin
        file_q <= from_bus(step_pkg::next_location(to_bus(file_q), BANKS, ADDRESSES));
      end
      if (write_entry) begin
        entry_q <= new_entry[ENTRY_W-1:0];
      end else if (write_list || read_list) begin
        entry_q <= 32'(entry_q) == TRACE_REGISTERS - 1 ? '0 : entry_q + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // May these segments and this trace be run?
  // ---------------------------------------------------------------------------------------------
  function automatic logic fits(
    input logic [DATA_W:0] a, input logic [DATA_W-1:0] b, input int depth
  );
    return {1'b0, a} + (DATA_W + 2)'(b) <= (DATA_W + 2)'(depth);
  endfunction

  logic main_fits, special_fits, trace_fits;
  assign main_fits = main_length != '0 && fits({1'b0, main_start}, main_length, PROGRAM_DEPTH);
  assign special_fits =
      special_length != '0 && fits({1'b0, special_start}, special_length, PROGRAM_DEPTH);
  assign trace_fits =
      fits({1'b0, trace_start} + {1'b0, trace_before}, trace_after, TRACE_REGISTERS);

  always_ff @(posedge clk_i) begin
    runnable_q <= main_fits && (every == '0 || special_fits) && (save == '0 || trace_fits);
  end

  // ---------------------------------------------------------------------------------------------
  // Engine
  // ---------------------------------------------------------------------------------------------
  logic start, fetch, load, access, push, full;
  logic [PC_W-1:0] pc;
  logic [ADDRESS_W-1:0] access_address;
  logic [BANK_W-1:0] tap_bank;
  logic [CONTEXT_W-1:0] context_now;
  logic [WORD_BITS-1:0] word;
  logic [W-1:0] reciprocal_operand, sincos_operand, reciprocal, sine, cosine, output_operand;
  logic [fp_pkg::FLAGS_W-1:0] reciprocal_flags, sincos_flags, stored_flags, flags_q;
  logic stored_fault, fault_q;

  step_sequencer #(
    .BANKS(BANKS),
    .DEPTH(DEPTH),
    .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .TRACE_REGISTERS(TRACE_REGISTERS),
    .CONTEXTS(CONTEXTS)
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
    .steps_done_o(steps_done),
    .steps_i(steps),
    .save_i(save),
    .every_i(every),
    .main_start_i(main_start[PC_W-1:0]),
    .main_length_i(main_length[PC_W:0]),
    .special_start_i(special_start[PC_W-1:0]),
    .special_length_i(special_length[PC_W:0]),
    .entry_i(trace_start[ENTRY_W-1:0]),
    .before_i(trace_before[ENTRY_W:0]),
    .after_i(trace_after[ENTRY_W:0]),
    .fetch_o(fetch),
    .pc_o(pc),
    .load_o(load),
    .access_o(access),
    .address_o(access_address),
    .bank_o(tap_bank),
    .context_o(context_now),
    .fault_i(fault),
    .push_o(push),
    .full_i(full),
    .host_location_i(file_q),
    .list_write_i(write_list_q),
    .list_index_i(list_index_q),
    .list_data_i(list_data_q),
    .list_data_o(list_entry)
  );

  step_program #(
    .NUM_ADD(NUM_ADD),
    .NUM_MUL(NUM_MUL),
    .DEPTH(DEPTH),
    .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .CONTEXTS(CONTEXTS)
  ) u_program (
    .clk_i,
    .store_i(store_q),
    .store_pc_i(store_pc_q),
    .store_word_i(stored_word[WORD_BITS-1:0]),
    .fetch_i(fetch),
    .pc_i(pc),
    .load_i(load),
    .access_i(access),
    .address_i(access_address),
    .word_o(word)
  );

  step_datapath #(
    .NUM_ADD(NUM_ADD),
    .NUM_MUL(NUM_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .ADD_STAGES(ADD_STAGES),
    .MUL_STAGES(MUL_STAGES),
    .DEPTH(DEPTH),
    .CONTEXTS(CONTEXTS),
    .READ_STAGES(READ_STAGES),
    .OPERAND_STAGES(OPERAND_STAGES),
    .BLOCK_RAM(BLOCK_RAM)
  ) u_datapath (
    .clk_i,
    .word_i(word),
    .context_i(context_now),
    .reciprocal_operand_o(reciprocal_operand),
    .sincos_operand_o(sincos_operand),
    .reciprocal_i(reciprocal),
    .reciprocal_flags_i(reciprocal_flags),
    .sine_i(sine),
    .cosine_i(cosine),
    .sincos_flags_i(sincos_flags),
    .load_data_i({W{1'b0}}),
    .output_operand_o(output_operand),
    .tap_bank_i(tap_bank),
    .tap_data_o(tap_data),
    .host_write_i(write_file_q),
    .host_data_i(host_data_q),
    .fault_o(stored_fault),
    .flags_o(stored_flags)
  );

  step_rare #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .REC_STAGES(REC_STAGES),
    .SINCOS_STAGES(SINCOS_STAGES),
    .LOGIC(RARE_LOGIC),
    .CONTEXTS(CONTEXTS),
    .AHEAD(step_pkg::ahead_stages(READ_STAGES, OPERAND_STAGES))
  ) u_rare (
    .clk_i,
    .reciprocal_operand_i(reciprocal_operand),
    .sincos_operand_i(sincos_operand),
    .reciprocal_o(reciprocal),
    .reciprocal_flags_o(reciprocal_flags),
    .sine_o(sine),
    .cosine_o(cosine),
    .sincos_flags_o(sincos_flags)
  );

  // Of all that was stored since the start
  always_ff @(posedge clk_i) begin
    if (!parts_rst_n || start) begin
      flags_q <= '0;
      fault_q <= 1'b0;
    end else begin
      flags_q <= flags_q | stored_flags;
      fault_q <= fault_q || stored_fault;
    end
  end

  assign flags = flags_q;
  assign fault = fault_q;

  step_trace #(
    .W(W),
    .DEPTH(TRACE_DEPTH),
    .DATA_STAGES(READ_STAGES)
  ) u_trace (
    .clk_i,
    .rst_ni(parts_rst_n),
    .push_i(push),
    .data_i(tap_data),
    .full_o(full),
    .pop_i(pop_q),
    .data_o(trace_data),
    .count_o(trace_count)
  );

  logic unused;
  assign unused = &{1'b0, options, output_operand};

endmodule
