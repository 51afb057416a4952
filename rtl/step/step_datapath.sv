// Lanes and register file of the step engine: does what a program word says, one word a cycle.
//
// Each operand comes from a read port of a bank or from what a bank is offered in this cycle, its
// sign flipped or not, into the operand registers at the end of the cycle; every field stands in
// `word_i` as it is used. A lane's result comes 1 + its STAGES cycles after the word that issued it
// and is there for one cycle: stored by the word of that cycle, taken as an operand, or lost. Lanes
// have no reset, they are harmless: only a word stores.
//
// `flags_o` and `fault_o` are sticky from `start_i` on and follow one cycle after the word: flags
// of results that were stored; whether one of these was infinite, not a number, or invalid.
//
// Besides the program: `tap_data_o` is what read port 0 of `tap_bank_i` gives, and `host_write_i`
// stores `host_data_i` in that bank at the word's address for it (of a word that stores nothing).
//
// Latency: 1 + STAGES of the unit. Throughput: one operation a lane and cycle.

module step_datapath #(
  parameter int NUM_ADD = 2,
  parameter int NUM_MUL = 2,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 3,
  parameter int MUL_STAGES = 2,
  parameter int REC_STAGES = 6,
  parameter int SINCOS_STAGES = 13,
  parameter int DEPTH = 64,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL),
  localparam int BANK_W = $clog2(BANKS),
  localparam int WORD_W = step_pkg::word_w(NUM_ADD, NUM_MUL, DEPTH)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              start_i,
  input  logic [WORD_W-1:0] word_i,

  input  logic [BANK_W-1:0] tap_bank_i,
  output logic [W-1:0]      tap_data_o,
  input  logic              host_write_i,
  input  logic [W-1:0]      host_data_i,

  output logic                       fault_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int ADDRESS_W = $clog2(DEPTH);
  localparam int SIDES = step_pkg::SIDES;
  localparam int BINARY = NUM_ADD + NUM_MUL;  // lanes of two operands; the shared bank follows
  localparam int OPERANDS = step_pkg::num_operands(NUM_ADD, NUM_MUL);
  localparam int SINCOS_OPERAND = SIDES * BINARY + 1;

  if (NUM_ADD < 1 || NUM_MUL < 1) begin : gen_check
    initial $fatal(1, "%m: NUM_ADD %0d and NUM_MUL %0d must be at least 1",
                   NUM_ADD, NUM_MUL);
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
    localparam int STORE_AT = step_pkg::store_at(bank, BANKS, ADDRESS_W);
    localparam int FIRST_AT = step_pkg::read_at(bank, 0, ADDRESS_W);
    localparam int SECOND_AT = step_pkg::read_at(bank, 1, ADDRESS_W);
    logic host_write;

    assign store[bank] = word_i[STORE_AT+ADDRESS_W];
    assign bad[bank] = &offered[bank][W-2:MAN_W] || flags[bank][fp_pkg::INVALID];
    assign host_write = host_write_i && tap_bank_i == BANK_W'(bank);

    step_bank #(
      .W(W),
      .DEPTH(DEPTH)
    ) u_bank (
      .clk_i,
      .write_i(store[bank] || host_write),
      .write_address_i(word_i[STORE_AT+:ADDRESS_W]),
      .write_data_i(host_write_i ? host_data_i : offered[bank]),
      .offered_i(offered[bank]),
      .take_i({word_i[SECOND_AT+ADDRESS_W], word_i[FIRST_AT+ADDRESS_W]}),
      .read_address_i({word_i[SECOND_AT+:ADDRESS_W], word_i[FIRST_AT+:ADDRESS_W]}),
      .read_data_o({second[bank], first[bank]})
    );
  end

  assign tap_data_o = first[tap_bank_i];

  // ---------------------------------------------------------------------------------------------
  // Operand registers
  // ---------------------------------------------------------------------------------------------
  wire [W-1:0] operand[OPERANDS];

  for (genvar i = 0; i < OPERANDS; i++) begin : gen_operand
    localparam int BANK_AT = step_pkg::operand_at(i, BANKS, ADDRESS_W);
    logic [BANK_W-1:0] from;
    logic negate;
    logic [W-1:0] data, operand_q;
    assign from = word_i[BANK_AT+:BANK_W];
    assign negate = word_i[BANK_AT+BANK_W];
    if (i % SIDES == 0) begin : gen_first
      assign data = first[from];
    end else begin : gen_second
      assign data = second[from];
    end
    always_ff @(posedge clk_i) begin
      operand_q <= data ^ {negate, {(W - 1) {1'b0}}};
    end
    assign operand[i] = operand_q;
  end

  // ---------------------------------------------------------------------------------------------
  // Lanes
  // ---------------------------------------------------------------------------------------------
  for (genvar lane = 0; lane < BINARY; lane++) begin : gen_lane
    if (lane < NUM_ADD) begin : gen_add
      fp_add #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(ADD_STAGES)
      ) u_add (
        .clk_i,
        .a_i(operand[SIDES*lane]),
        .b_i(operand[SIDES*lane+1]),
        .y_o(offered[lane]),
        .flags_o(flags[lane])
      );
    end else begin : gen_mul
      fp_mul #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(MUL_STAGES)
      ) u_mul (
        .clk_i,
        .a_i(operand[SIDES*lane]),
        .b_i(operand[SIDES*lane+1]),
        .y_o(offered[lane]),
        .flags_o(flags[lane])
      );
    end
  end

  logic [W-1:0] reciprocal, sine;
  logic [fp_pkg::FLAGS_W-1:0] reciprocal_flags, sincos_flags;
  logic sine_offered;

  fp_recip #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(REC_STAGES),
    .METHOD(MAN_W <= fp_pkg::RECIP_TABLE_MAX_MAN_W ? fp_pkg::RECIP_TABLE : fp_pkg::RECIP_ARRAY)
  ) u_recip (
    .clk_i,
    .a_i(operand[SIDES*BINARY]),
    .y_o(reciprocal),
    .flags_o(reciprocal_flags)
  );

  fp_sincos #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(SINCOS_STAGES)
  ) u_sincos (
    .clk_i,
    .a_i(operand[SINCOS_OPERAND]),
    .sin_o(sine),
    .cos_o(offered[BINARY+1]),
    .flags_o(sincos_flags)
  );

  assign sine_offered = word_i[step_pkg::sine_at(BANKS, ADDRESS_W)];
  assign offered[BINARY] = sine_offered ? sine : reciprocal;
  assign flags[BINARY] = sine_offered ? sincos_flags : reciprocal_flags;
  assign flags[BINARY+1] = sincos_flags;

  // ---------------------------------------------------------------------------------------------
  // Flags and faults of what is stored
  // ---------------------------------------------------------------------------------------------
  logic [fp_pkg::FLAGS_W-1:0] raised, flags_q;
  logic fault_q;

  function automatic logic [fp_pkg::FLAGS_W-1:0] of_stored(
    input logic [BANKS-1:0] stored, input logic [BANKS-1:0][fp_pkg::FLAGS_W-1:0] each
  );
    logic [fp_pkg::FLAGS_W-1:0] all;
    all = '0;
    for (int bank = 0; bank < BANKS; bank++) begin
      if (stored[bank]) begin
        all = all | each[bank];
      end
    end
    return all;
  endfunction

  assign raised = of_stored(store, flags);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) begin
      flags_q <= '0;
      fault_q <= 1'b0;
    end else begin
      flags_q <= flags_q | raised;
      fault_q <= fault_q || |(store & bad);
    end
  end

  assign flags_o = flags_q;
  assign fault_o = fault_q;

endmodule
