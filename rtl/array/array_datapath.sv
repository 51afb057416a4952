// A datapath of the step array: step_datapath, the memories of its load lane and output lane, and
// the fault bits of its calls. Does what the word and its token say for the context `context_i`, in
// every cycle.
//
// Input memory: the load lane reads word `in_index` of the context in `in_half_i`, every cycle; the
// loader writes. Output memory: what the output lane's operand register holds AHEAD cycles after a
// word that emits is written, to `out_index` of the context in `out_half_i`; the drain reads.
// Scratch memory, with SCRATCH_DEPTH words for each context: a word may send its output there
// instead, and a word that begins AHEAD cycles later or more may load it.
//
// A call's fault bit tells whether a result that it stored, since the word that is `first_i`, was
// infinite, not a number, or invalid. The word that is `emit_end_i`, the last one to count, puts it
// beside the outputs of its half. Only contexts that are `live_i` have faults and flags.
//
// `flags_o` are those of the cycle before. A host's write as in step_datapath: `host_write_i` with
// `host_data_i` to bank `host_bank_i`, the address in the word.
//
// Latency: a load step_pkg::latency of LOAD_STAGES; outputs can be read AHEAD + 1 cycles after the
// word, fault bits 2; reading takes MEMORY_STAGES. Throughput: one word of a context a cycle.

module array_datapath #(
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
  parameter int IN_DEPTH = 64,
  parameter int OUT_DEPTH = 64,
  parameter int SCRATCH_DEPTH = 0,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL),
  localparam int BANK_W = $clog2(BANKS),
  localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS),
  localparam int IN_ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, IN_DEPTH),
  localparam int OUT_ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, OUT_DEPTH),
  localparam int WORD_W =
      step_pkg::stream_word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS, IN_DEPTH, OUT_DEPTH,
                              SCRATCH_DEPTH)
) (
  input  logic                 clk_i,
  input  logic [WORD_W-1:0]    word_i,
  input  logic [CONTEXT_W-1:0] context_i,
  input  logic                 live_i,
  input  logic                 in_half_i,
  input  logic                 out_half_i,
  input  logic                 first_i,
  input  logic                 emit_end_i,

  input  logic              host_write_i,
  input  logic [BANK_W-1:0] host_bank_i,
  input  logic [W-1:0]      host_data_i,

  output logic                       use_reciprocal_o,
  output logic [W-1:0]               reciprocal_operand_o,
  output logic                       use_sincos_o,
  output logic [W-1:0]               sincos_operand_o,
  input  logic [W-1:0]               reciprocal_i,
  input  logic [fp_pkg::FLAGS_W-1:0] reciprocal_flags_i,
  input  logic [W-1:0]               sine_i,
  input  logic [W-1:0]               cosine_i,
  input  logic [fp_pkg::FLAGS_W-1:0] sincos_flags_i,

  input  logic                    in_write_i,
  input  logic [IN_ADDRESS_W-1:0] in_address_i,
  input  logic [W-1:0]            in_data_i,

  input  logic [OUT_ADDRESS_W-1:0] out_address_i,
  output logic [W-1:0]             out_data_o,
  output logic                     out_fault_o,

  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int ADDRESS_W = step_pkg::index_w(DEPTH);
  localparam int IN_W = step_pkg::index_w(IN_DEPTH);
  localparam int OUT_W = step_pkg::index_w(OUT_DEPTH);
  localparam int FAULT_W = OUT_ADDRESS_W - OUT_W;  // bits of a half and a context
  localparam int AHEAD = step_pkg::ahead_stages(READ_STAGES, OPERAND_STAGES);
  localparam int EMIT_AT = step_pkg::emit_at(BANKS, ADDRESS_W, CONTEXTS);
  localparam int OUT_INDEX_AT =
      step_pkg::out_index_at(BANKS, ADDRESS_W, CONTEXTS, SCRATCH_DEPTH);
  localparam int IN_INDEX_AT =
      step_pkg::in_index_at(BANKS, ADDRESS_W, CONTEXTS, OUT_DEPTH, SCRATCH_DEPTH);
  localparam int USE_AT =
      step_pkg::use_at(BANKS, ADDRESS_W, CONTEXTS, IN_DEPTH, OUT_DEPTH, SCRATCH_DEPTH);

  if (SCRATCH_DEPTH != 0 && !array_pkg::is_depth(SCRATCH_DEPTH)) begin : gen_check_scratch
    initial $fatal(1, "%m: SCRATCH_DEPTH %0d must be 0 or a power of two, %0d to %0d",
                   SCRATCH_DEPTH, array_pkg::MIN_DEPTH, array_pkg::MAX_DEPTH);
  end

  // ---------------------------------------------------------------------------------------------
  // Load lane
  // ---------------------------------------------------------------------------------------------
  localparam int INDEX_STAGES =
      step_pkg::latency(array_pkg::LOAD_STAGES, 0, CONTEXTS) - array_pkg::MEMORY_STAGES;
  logic [IN_ADDRESS_W-1:0] load_address, address_to_read;
  logic [W-1:0] input_data, load_data;

  assign load_address = IN_ADDRESS_W'({context_i, word_i[IN_INDEX_AT+:IN_W]}) |
                        {in_half_i, {(IN_ADDRESS_W - 1) {1'b0}}};

  step_delay #(
    .WIDTH(IN_ADDRESS_W),
    .CYCLES(INDEX_STAGES)
  ) u_index (
    .clk_i,
    .data_i(load_address),
    .data_o(address_to_read)
  );

  array_memory #(
    .W(W),
    .DEPTH(1 << IN_ADDRESS_W)
  ) u_inputs (
    .clk_i,
    .write_i(in_write_i),
    .write_address_i(in_address_i),
    .write_data_i(in_data_i),
    .read_address_i(address_to_read),
    .read_data_o(input_data)
  );

  // ---------------------------------------------------------------------------------------------
  // All other lanes, and the register file
  // ---------------------------------------------------------------------------------------------
  logic [W-1:0] output_operand, tap_data;
  logic [fp_pkg::FLAGS_W-1:0] flags, flags_q;
  logic fault;

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
    .BLOCK_RAM(BLOCK_RAM),
    .IN_DEPTH(IN_DEPTH),
    .OUT_DEPTH(OUT_DEPTH),
    .SCRATCH_DEPTH(SCRATCH_DEPTH)
  ) u_lanes (
    .clk_i,
    .word_i,
    .context_i,
    .reciprocal_operand_o,
    .sincos_operand_o,
    .reciprocal_i,
    .reciprocal_flags_i,
    .sine_i,
    .cosine_i,
    .sincos_flags_i,
    .load_data_i(load_data),
    .output_operand_o(output_operand),
    .tap_bank_i(host_bank_i),
    .tap_data_o(tap_data),
    .host_write_i,
    .host_data_i,
    .fault_o(fault),
    .flags_o(flags)
  );

  step_delay #(
    .WIDTH(step_pkg::UNARY_LANES),
    .CYCLES(AHEAD)
  ) u_use (
    .clk_i,
    .data_i(word_i[USE_AT+:step_pkg::UNARY_LANES]),
    .data_o({use_sincos_o, use_reciprocal_o})
  );

  // ---------------------------------------------------------------------------------------------
  // Output lane
  // ---------------------------------------------------------------------------------------------
  logic [OUT_ADDRESS_W-1:0] output_address, emit_address;
  logic emit, to_scratch;

  assign output_address = OUT_ADDRESS_W'({context_i, word_i[OUT_INDEX_AT+:OUT_W]}) |
                          {out_half_i, {(OUT_ADDRESS_W - 1) {1'b0}}};

  step_delay #(
    .WIDTH(1 + OUT_ADDRESS_W),
    .CYCLES(AHEAD)
  ) u_emit (
    .clk_i,
    .data_i({word_i[EMIT_AT], output_address}),
    .data_o({emit, emit_address})
  );

  array_memory #(
    .W(W),
    .DEPTH(1 << OUT_ADDRESS_W)
  ) u_outputs (
    .clk_i,
    .write_i(emit && !to_scratch),
    .write_address_i(emit_address),
    .write_data_i(output_operand),
    .read_address_i(out_address_i),
    .read_data_o(out_data_o)
  );

  // ---------------------------------------------------------------------------------------------
  // Scratch memory
  // ---------------------------------------------------------------------------------------------
  if (SCRATCH_DEPTH == 0) begin : gen_no_scratch
    assign to_scratch = 1'b0;
    assign load_data = input_data;
  end else begin : gen_scratch
    localparam int FROM_AT = IN_INDEX_AT + step_pkg::number_w(IN_DEPTH, SCRATCH_DEPTH);
    localparam int TO_AT = EMIT_AT + 1;
    localparam int INDEX_W = step_pkg::index_w(SCRATCH_DEPTH);
    localparam int SCRATCH_W = $clog2(CONTEXTS) + INDEX_W;
    logic [SCRATCH_W-1:0] write_address, read_address;
    logic [W-1:0] scratch_data;
    logic from_scratch;

    step_delay #(
      .WIDTH(1 + SCRATCH_W),
      .CYCLES(AHEAD)
    ) u_write (
      .clk_i,
      .data_i({word_i[TO_AT], SCRATCH_W'({context_i, word_i[OUT_INDEX_AT+:INDEX_W]})}),
      .data_o({to_scratch, write_address})
    );

    step_delay #(
      .WIDTH(SCRATCH_W),
      .CYCLES(INDEX_STAGES)
    ) u_read (
      .clk_i,
      .data_i(SCRATCH_W'({context_i, word_i[IN_INDEX_AT+:INDEX_W]})),
      .data_o(read_address)
    );

    array_memory #(
      .W(W),
      .DEPTH(1 << SCRATCH_W)
    ) u_scratch (
      .clk_i,
      .write_i(emit && to_scratch),
      .write_address_i(write_address),
      .write_data_i(output_operand),
      .read_address_i(read_address),
      .read_data_o(scratch_data)
    );

    step_delay #(
      .WIDTH(1),
      .CYCLES(INDEX_STAGES + array_pkg::MEMORY_STAGES)
    ) u_from (
      .clk_i,
      .data_i(word_i[FROM_AT]),
      .data_o(from_scratch)
    );

    assign load_data = from_scratch ? scratch_data : input_data;
  end

  // ---------------------------------------------------------------------------------------------
  // Flags; fault bits of the calls that run (distributed RAM), and of those in the output memory
  // ---------------------------------------------------------------------------------------------
  logic running_q[1 << CONTEXT_W];
  logic emitted_q[1 << FAULT_W];
  logic [CONTEXT_W-1:0] context_q;
  logic [FAULT_W-1:0] place_q;
  logic fault_q, live_q, first_q, emit_end_q, faulty;

  assign flags_o = flags_q & {fp_pkg::FLAGS_W{live_q}};
  assign faulty = (fault_q && live_q) || (!first_q && running_q[context_q]);

  always_ff @(posedge clk_i) begin
    flags_q <= flags;
    fault_q <= fault;
    live_q <= live_i;
    first_q <= first_i;
    emit_end_q <= emit_end_i;
    context_q <= context_i;
    place_q <= output_address[OUT_ADDRESS_W-1-:FAULT_W];
    running_q[context_q] <= faulty;
    if (emit_end_q) begin
      emitted_q[place_q] <= faulty;
    end
  end

  step_delay #(
    .WIDTH(1),
    .CYCLES(array_pkg::MEMORY_STAGES)
  ) u_fault (
    .clk_i,
    .data_i(emitted_q[out_address_i[OUT_ADDRESS_W-1-:FAULT_W]]),
    .data_o(out_fault_o)
  );

  logic unused_tap;
  assign unused_tap = &{1'b0, tap_data};

endmodule
