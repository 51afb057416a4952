// Adders, multipliers and register file of a step engine: does what a program word says for the
// context `context_i`, in every cycle.
//
// A bank has DEPTH registers for each context. A word reads and stores those of its context; a read
// port may give those of context 0 to all, which then must not store there.
//
// Each operand comes from a read port of a bank or from what a bank is offered in this cycle, its
// sign flipped or not, into the operand registers: READ_STAGES registers behind the banks and
// OPERAND_STAGES inside the multiplexers stand before them. Every other field acts as it stands in
// `word_i`. A lane's result comes step_pkg::latency cycles after the word that issued it, a
// multiple of CONTEXTS, and is there for one cycle: stored by the word of that cycle, taken as an
// operand, or lost. Lanes have no reset, they are harmless: only a word stores. With several
// contexts a store takes a cycle more, before the next word of its context.
//
// Reciprocal, sine and cosine are outside (step_rare), their operand registers here. So are the
// memories of the streams that a datapath has if IN_DEPTH and OUT_DEPTH are not 0: the shared bank
// and the cosine's are offered `load_data_i` by words that say so, and `output_operand_o` is the
// operand register of the output lane; what else the word says of them is not for here.
//
// `flags_o` and `fault_o` tell of this cycle: flags of results that are stored; whether one of
// these is infinite, not a number, or invalid. Loaded data are no results.
//
// Besides the program: `tap_data_o` is what read port 0 of `tap_bank_i` gives, READ_STAGES cycles
// later, and `host_write_i` stores `host_data_i` in that bank at the word's address for it (of a
// word that stores nothing).
//
// Latency: 1 + READ_STAGES + OPERAND_STAGES + STAGES of the unit, rounded up to a multiple of
// CONTEXTS. Throughput: one operation a lane and cycle.

module step_datapath #(
  parameter int NUM_ADD = 2,
  parameter int NUM_MUL = 2,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 3,
  parameter int MUL_STAGES = 2,
  parameter int DEPTH = 64,
  parameter int CONTEXTS = 1,
  parameter int READ_STAGES = 0,
  parameter int OPERAND_STAGES = 0,
  parameter int BLOCK_RAM = READ_STAGES > 0 ? 1 : 0,
  parameter int IN_DEPTH = 0,
  parameter int OUT_DEPTH = 0,
  parameter int SCRATCH_DEPTH = 0,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL),
  localparam int BANK_W = $clog2(BANKS),
  localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS),
  localparam int WORD_W =
      step_pkg::stream_word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS, IN_DEPTH, OUT_DEPTH,
                              SCRATCH_DEPTH)
) (
  input  logic                 clk_i,
  input  logic [WORD_W-1:0]    word_i,
  input  logic [CONTEXT_W-1:0] context_i,

  output logic [W-1:0]               reciprocal_operand_o,
  output logic [W-1:0]               sincos_operand_o,
  input  logic [W-1:0]               reciprocal_i,
  input  logic [fp_pkg::FLAGS_W-1:0] reciprocal_flags_i,
  input  logic [W-1:0]               sine_i,
  input  logic [W-1:0]               cosine_i,
  input  logic [fp_pkg::FLAGS_W-1:0] sincos_flags_i,

  input  logic [W-1:0] load_data_i,
  output logic [W-1:0] output_operand_o,

  input  logic [BANK_W-1:0] tap_bank_i,
  output logic [W-1:0]      tap_data_o,
  input  logic              host_write_i,
  input  logic [W-1:0]      host_data_i,

  output logic                       fault_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int ADDRESS_W = step_pkg::index_w(DEPTH);
  localparam int FILE_W = step_pkg::index_w(CONTEXTS * DEPTH);
  localparam int SIDES = step_pkg::SIDES;
  localparam int BINARY = NUM_ADD + NUM_MUL;  // lanes of two operands
  localparam int SHARED_BANK = BINARY;  // of reciprocal and sine
  localparam int COSINE_BANK = BINARY + 1;
  localparam int STREAMS = IN_DEPTH > 0 ? 1 : 0;
  localparam int RECIPROCAL_OPERAND = SIDES * BINARY;
  localparam int SINCOS_OPERAND = SIDES * BINARY + 1;
  localparam int OUTPUT_OPERAND = step_pkg::num_operands(NUM_ADD, NUM_MUL);  // if STREAMS
  localparam int OPERANDS = OUTPUT_OPERAND + STREAMS;
  localparam int AHEAD = step_pkg::ahead_stages(READ_STAGES, OPERAND_STAGES);

  if (NUM_ADD < 1 || NUM_MUL < 1) begin : gen_check
    initial $fatal(1, "%m: NUM_ADD %0d and NUM_MUL %0d must be at least 1",
                   NUM_ADD, NUM_MUL);
  end
  if (DEPTH < 2 || DEPTH != 1 << ADDRESS_W) begin : gen_check_depth
    initial $fatal(1, "%m: DEPTH %0d must be a power of two, at least 2", DEPTH);
  end
  if (OPERAND_STAGES < 0 || OPERAND_STAGES > step_pkg::MAX_OPERAND_STAGES) begin : gen_check_operand
    initial $fatal(1, "%m: OPERAND_STAGES %0d must be 0 to %0d",
                   OPERAND_STAGES, step_pkg::MAX_OPERAND_STAGES);
  end
  if ((IN_DEPTH == 0) != (OUT_DEPTH == 0)) begin : gen_check_streams
    initial $fatal(1, "%m: IN_DEPTH %0d and OUT_DEPTH %0d must both be 0, or none",
                   IN_DEPTH, OUT_DEPTH);
  end

  // ---------------------------------------------------------------------------------------------
  // Register file
  // ---------------------------------------------------------------------------------------------
  wire [W-1:0] offered[BANKS];
  wire [W-1:0] first[BANKS];  // what the ports of side 0 give
  wire [W-1:0] second[BANKS];
  logic [BANKS-1:0] store;
  logic [BANKS-1:0][fp_pkg::FLAGS_W-1:0] flags;
  logic [BANKS-1:0] bad;

  for (genvar bank = 0; bank < BANKS; bank++) begin : gen_bank
    localparam int STORE_AT = step_pkg::store_at(bank, BANKS, ADDRESS_W, CONTEXTS);
    localparam int FIRST_AT = step_pkg::read_at(bank, 0, ADDRESS_W, CONTEXTS);
    localparam int SECOND_AT = step_pkg::read_at(bank, 1, ADDRESS_W, CONTEXTS);
    logic host_write, first_common, second_common;

    assign store[bank] = word_i[STORE_AT+ADDRESS_W];
    assign bad[bank] = &offered[bank][W-2:MAN_W] || flags[bank][fp_pkg::INVALID];
    assign host_write = host_write_i && tap_bank_i == BANK_W'(bank);

    if (CONTEXTS == 1) begin : gen_context
      assign {second_common, first_common} = '0;
    end else begin : gen_contexts
      assign second_common = word_i[SECOND_AT+ADDRESS_W+1];
      assign first_common = word_i[FIRST_AT+ADDRESS_W+1];
    end

    step_bank #(
      .W(W),
      .DEPTH(CONTEXTS * DEPTH),
      .READ_STAGES(READ_STAGES),
      .WRITE_STAGES(CONTEXTS > 1 ? 1 : 0),
      .BLOCK(BLOCK_RAM)
    ) u_bank (
      .clk_i,
      .write_i(store[bank] || host_write),
      .write_address_i(in_file(context_i, 1'b0, word_i[STORE_AT+:ADDRESS_W])),
      .write_data_i(host_write_i ? host_data_i : offered[bank]),
      .offered_i(offered[bank]),
      .take_i({word_i[SECOND_AT+ADDRESS_W], word_i[FIRST_AT+ADDRESS_W]}),
      .read_address_i({in_file(context_i, second_common, word_i[SECOND_AT+:ADDRESS_W]),
                       in_file(context_i, first_common, word_i[FIRST_AT+:ADDRESS_W])}),
      .read_data_o({second[bank], first[bank]})
    );
  end

  // Where a register of a context stands, or the one that all contexts have in common
  function automatic logic [FILE_W-1:0] in_file(
    input logic [CONTEXT_W-1:0] of, input logic common, input logic [ADDRESS_W-1:0] address
  );
    return FILE_W'(address) | FILE_W'({of & {CONTEXT_W{!common}}, {ADDRESS_W{1'b0}}});
  endfunction

  logic [BANK_W-1:0] tap_bank;

  step_delay #(
    .WIDTH(BANK_W),
    .CYCLES(READ_STAGES)
  ) u_tap_bank (
    .clk_i,
    .data_i(tap_bank_i),
    .data_o(tap_bank)
  );

  assign tap_data_o = first[tap_bank];

  // ---------------------------------------------------------------------------------------------
  // Operand registers
  // ---------------------------------------------------------------------------------------------
  localparam int OPERANDS_AT = step_pkg::operand_at(0, BANKS, ADDRESS_W, CONTEXTS);
  localparam int SELECT_W = BANK_W + 1;  // of an operand: a bank, negate
  wire [W-1:0] operand[OPERANDS];
  logic [OPERANDS*SELECT_W-1:0] selects;

  step_delay #(
    .WIDTH(OPERANDS * SELECT_W),
    .CYCLES(READ_STAGES)
  ) u_selects (
    .clk_i,
    .data_i(word_i[OPERANDS_AT+:OPERANDS*SELECT_W]),
    .data_o(selects)
  );

  for (genvar i = 0; i < OPERANDS; i++) begin : gen_operand
    logic [BANK_W-1:0] from;
    logic negate;
    logic [W-1:0] data, operand_q;
    assign from = selects[SELECT_W*i+:BANK_W];
    if (OPERAND_STAGES == 0) begin : gen_at_once
      assign negate = selects[SELECT_W*i+BANK_W];
      if (i % SIDES == 0) begin : gen_first
        assign data = first[from];
      end else begin : gen_second
        assign data = second[from];
      end
    end else begin : gen_groups
      // In two levels: one of each GROUP banks, then one of those
      localparam int MEMBER_W = BANK_W > 2 ? 2 : 1;
      localparam int GROUP = 1 << MEMBER_W;
      localparam int GROUPS = (BANKS + GROUP - 1) / GROUP;
      localparam int GROUP_W = $clog2(GROUPS);
      wire [W-1:0] member[GROUPS];
      logic [GROUP_W-1:0] group_q;
      logic negate_q;

      for (genvar group = 0; group < GROUPS; group++) begin : gen_group
        localparam int LAST = BANKS - 1 - GROUP * group;  // of the bank's places in this group
        wire [W-1:0] bank[GROUP];
        logic [W-1:0] member_q;
        for (genvar place = 0; place < GROUP; place++) begin : gen_place
          localparam int BANK = GROUP * group + (place < LAST ? place : LAST);
          if (i % SIDES == 0) begin : gen_first
            assign bank[place] = first[BANK];
          end else begin : gen_second
            assign bank[place] = second[BANK];
          end
        end
        always_ff @(posedge clk_i) begin
          member_q <= bank[from[MEMBER_W-1:0]];
        end
        assign member[group] = member_q;
      end

      always_ff @(posedge clk_i) begin
        group_q <= from[MEMBER_W+:GROUP_W];
        negate_q <= selects[SELECT_W*i+BANK_W];
      end
      assign negate = negate_q;
      assign data = member[group_q];
    end
    always_ff @(posedge clk_i) begin
      operand_q <= data ^ {negate, {(W - 1) {1'b0}}};
    end
    assign operand[i] = operand_q;
  end

  // ---------------------------------------------------------------------------------------------
  // Lanes. What is asked for is checked: contexts may round up even less than no stages.
  // ---------------------------------------------------------------------------------------------
  fp_check #(.STAGES(ADD_STAGES)) u_check_add ();
  fp_check #(.STAGES(MUL_STAGES)) u_check_mul ();

  localparam int ADD_UNIT =
      step_pkg::unit_stages(ADD_STAGES, fp_pkg::MAX_STAGES, AHEAD, CONTEXTS);
  localparam int MUL_UNIT =
      step_pkg::unit_stages(MUL_STAGES, fp_pkg::MAX_STAGES, AHEAD, CONTEXTS);
  localparam int ADD_PADDING =
      step_pkg::padding(ADD_STAGES, fp_pkg::MAX_STAGES, AHEAD, CONTEXTS);
  localparam int MUL_PADDING =
      step_pkg::padding(MUL_STAGES, fp_pkg::MAX_STAGES, AHEAD, CONTEXTS);

  for (genvar lane = 0; lane < BINARY; lane++) begin : gen_lane
    logic [W-1:0] result;
    logic [fp_pkg::FLAGS_W-1:0] result_flags;

    if (lane < NUM_ADD) begin : gen_add
      fp_add #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(ADD_UNIT)
      ) u_add (
        .clk_i,
        .a_i(operand[SIDES*lane]),
        .b_i(operand[SIDES*lane+1]),
        .y_o(result),
        .flags_o(result_flags)
      );
    end else begin : gen_mul
      fp_mul #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(MUL_UNIT)
      ) u_mul (
        .clk_i,
        .a_i(operand[SIDES*lane]),
        .b_i(operand[SIDES*lane+1]),
        .y_o(result),
        .flags_o(result_flags)
      );
    end

    step_delay #(
      .WIDTH(fp_pkg::FLAGS_W + W),
      .CYCLES(lane < NUM_ADD ? ADD_PADDING : MUL_PADDING)
    ) u_padding (
      .clk_i,
      .data_i({result_flags, result}),
      .data_o({flags[lane], offered[lane]})
    );
  end

  assign reciprocal_operand_o = operand[RECIPROCAL_OPERAND];
  assign sincos_operand_o = operand[SINCOS_OPERAND];

  logic sine_offered, load_shared, load_cosine;
  assign sine_offered = word_i[step_pkg::sine_at(BANKS, ADDRESS_W, CONTEXTS)];
  assign offered[SHARED_BANK] = load_shared ? load_data_i : sine_offered ? sine_i : reciprocal_i;
  assign offered[COSINE_BANK] = load_cosine ? load_data_i : cosine_i;
  assign flags[SHARED_BANK] = sine_offered ? sincos_flags_i : reciprocal_flags_i;
  assign flags[COSINE_BANK] = sincos_flags_i;

  if (STREAMS != 0) begin : gen_streams
    localparam int LOAD_AT =
        step_pkg::load_at(BANKS, ADDRESS_W, CONTEXTS, OUT_DEPTH, SCRATCH_DEPTH);
    logic unused;
    assign {load_cosine, load_shared} = word_i[LOAD_AT+:step_pkg::UNARY_LANES];
    assign output_operand_o = operand[OUTPUT_OPERAND];
    assign unused = &{1'b0, word_i};
  end else begin : gen_no_streams
    logic unused;
    assign {load_cosine, load_shared} = '0;
    assign output_operand_o = '0;
    assign unused = &{1'b0, load_data_i};
  end

  // ---------------------------------------------------------------------------------------------
  // Flags and faults of what is stored
  // ---------------------------------------------------------------------------------------------
  logic [fp_pkg::FLAGS_W-1:0] raised;
  logic [BANKS-1:0] loaded, counted;

  assign loaded = {load_cosine, load_shared, {BINARY{1'b0}}};
  assign counted = store & ~loaded;

  function automatic logic [fp_pkg::FLAGS_W-1:0] of_counted(
    input logic [BANKS-1:0] counts, input logic [BANKS-1:0][fp_pkg::FLAGS_W-1:0] each
  );
    logic [fp_pkg::FLAGS_W-1:0] all;
    all = '0;
    for (int bank = 0; bank < BANKS; bank++) begin
      if (counts[bank]) begin
        all = all | each[bank];
      end
    end
    return all;
  endfunction

  assign raised = of_counted(counted, flags);
  assign flags_o = raised;
  assign fault_o = |(counted & bad);

endmodule
