// The datapaths of the step array and what they share: words and tokens that are handed from one
// datapath to the next, reciprocal, sine and cosine, and the ways into the input memories and out
// of the output memories.
//
// With `advance_i` the word and token at the inputs go to datapath 0, and those of each datapath to
// the next one. From the cycle after it on a word executes for one context after the other, from 0
// on: while a word is in the chain an advance comes in every CONTEXTS-th cycle, until all have left
// it. Behind the last word come bubbles, words and tokens of zeros, which do nothing. Datapath v
// thus runs a word CONTEXTS cycles after datapath v - 1, and one unit serves them all in turn: of
// DATAPATHS words in a row at most one may use the reciprocal, and one sine and cosine. With
// several datapaths these take SHARE_STAGES more.
//
// Token: so many systems of the batch, `live_i`, are real, from datapath 0 on; the halves of the
// memories that the word reads and writes; the batch's first word; its last one that counts for the
// outputs (`emit_end_i`), and its last one (`release_i`).
//
// A host's write goes down the chain as a word of zeros with `host_i`. It may stand for any number
// of cycles; every datapath stores it.
//
// `emitted_o` pulses when outputs and fault bits of `emitted_half_o` stand in all datapaths,
// `released_o` when no datapath reads the input half of the batch any more. What the drain reads
// comes READ_LATENCY cycles after `out_datapath_i` and `out_address_i`. `flags_o` is sticky from
// `start_i` on. `advance_i` and the drain's address should come from registers: they go to every
// datapath. A reset takes words out of the chain, registers and memories stay.
//
// Latency: from an advance to `emitted_o` and `released_o` DATAPATHS * CONTEXTS + SETTLE cycles;
// flags 2 cycles after the word; from a loader's write to the word that can load it 1 cycle.
// Throughput: one word in CONTEXTS cycles, for all systems; one write and one read a cycle.

module array_core #(
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
  parameter int CONTEXTS = 1,
  parameter int READ_STAGES = CONTEXTS > 2 ? 2 : CONTEXTS - 1,
  parameter int OPERAND_STAGES = CONTEXTS > 3 ? 1 : 0,
  parameter int BLOCK_RAM = READ_STAGES > 0 ? 1 : 0,
  parameter int DATAPATHS = 2,
  parameter int IN_DEPTH = 64,
  parameter int OUT_DEPTH = 64,
  parameter int SCRATCH_DEPTH = 0,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int BANKS = step_pkg::num_banks(NUM_ADD, NUM_MUL),
  localparam int BANK_W = $clog2(BANKS),
  localparam int FILE_W = step_pkg::index_w(CONTEXTS * DEPTH),
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS),
  localparam int V_W = array_pkg::datapath_w(DATAPATHS),
  localparam int IN_ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, IN_DEPTH),
  localparam int OUT_ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, OUT_DEPTH),
  localparam int WORD_W =
      step_pkg::stream_word_w(NUM_ADD, NUM_MUL, DEPTH, CONTEXTS, IN_DEPTH, OUT_DEPTH,
                              SCRATCH_DEPTH)
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,

  input  logic              advance_i,
  input  logic [WORD_W-1:0] word_i,
  input  logic [LIVE_W-1:0] live_i,
  input  logic              in_half_i,
  input  logic              out_half_i,
  input  logic              first_i,
  input  logic              emit_end_i,
  input  logic              release_i,
  input  logic              host_i,
  input  logic [BANK_W-1:0] host_bank_i,
  input  logic [FILE_W-1:0] host_address_i,
  input  logic [W-1:0]      host_data_i,

  output logic emitted_o,
  output logic emitted_half_o,
  output logic released_o,

  input  logic                    in_write_i,
  input  logic [V_W-1:0]          in_datapath_i,
  input  logic [IN_ADDRESS_W-1:0] in_address_i,
  input  logic [W-1:0]            in_data_i,

  input  logic [V_W-1:0]           out_datapath_i,
  input  logic [OUT_ADDRESS_W-1:0] out_address_i,
  output logic [W-1:0]             out_data_o,
  output logic                     out_fault_o,

  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int ADDRESS_W = step_pkg::index_w(DEPTH);
  localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS);
  localparam int AHEAD = step_pkg::ahead_stages(READ_STAGES, OPERAND_STAGES);

  if (DATAPATHS < 1 || DATAPATHS > array_pkg::MAX_DATAPATHS) begin : gen_check_datapaths
    initial $fatal(1, "%m: DATAPATHS %0d must be 1 to %0d", DATAPATHS, array_pkg::MAX_DATAPATHS);
  end
  if (CONTEXTS < 1 || CONTEXTS > step_pkg::MAX_CONTEXTS) begin : gen_check_contexts
    initial $fatal(1, "%m: CONTEXTS %0d must be 1 to %0d", CONTEXTS, step_pkg::MAX_CONTEXTS);
  end

  // ---------------------------------------------------------------------------------------------
  // Words and tokens at the inputs, and in each datapath
  // ---------------------------------------------------------------------------------------------
  typedef struct packed {
    logic                 in_half;
    logic                 out_half;
    logic                 first;
    logic                 emit_end;
    logic                 done;  // with the batch's inputs
    logic                 host;
    logic [BANK_W-1:0]    host_bank;
    logic [CONTEXT_W-1:0] host_context;  // 0 without `host`
    logic [W-1:0]         host_data;
  } token_t;

  localparam int TOKEN_W = $bits(token_t);
  wire [WORD_W-1:0] words[DATAPATHS+1];  // that of datapath v at v + 1
  wire [TOKEN_W-1:0] tokens[DATAPATHS+1];
  wire [LIVE_W-1:0] lives[DATAPATHS+1];  // systems from this datapath on

  function automatic logic [WORD_W-1:0] accessing(input logic [ADDRESS_W-1:0] address);
    logic [WORD_W-1:0] word;
    word = '0;
    for (int bank = 0; bank < BANKS; bank++) begin
      word[step_pkg::store_at(bank, BANKS, ADDRESS_W, CONTEXTS)+:ADDRESS_W] = address;
    end
    return word;
  endfunction

  logic [FILE_W-1:0] host_address;
  logic [CONTEXT_W-1:0] host_context;
  assign host_address = host_address_i & {FILE_W{host_i}};
  assign host_context = CONTEXT_W'({1'b0, host_address} >> ADDRESS_W);
  assign words[0] = word_i | accessing(host_address[ADDRESS_W-1:0]);
  assign lives[0] = live_i;
  assign tokens[0] = {in_half_i, out_half_i, first_i, emit_end_i, release_i, host_i, host_bank_i,
                      host_context, host_data_i};

  // ---------------------------------------------------------------------------------------------
  // Loader's writes
  // ---------------------------------------------------------------------------------------------
  logic [DATAPATHS-1:0] in_write_q;
  logic [IN_ADDRESS_W-1:0] in_address_q;
  logic [W-1:0] in_data_q;

  always_ff @(posedge clk_i) begin
    in_address_q <= in_address_i;
    in_data_q <= in_data_i;
  end

  // ---------------------------------------------------------------------------------------------
  // Datapaths
  // ---------------------------------------------------------------------------------------------
  logic [DATAPATHS-1:0] use_reciprocal, use_sincos;
  logic [DATAPATHS-1:0][W-1:0] reciprocal_operands, sincos_operands;
  logic [DATAPATHS-1:0][fp_pkg::FLAGS_W-1:0] flags;
  logic [DATAPATHS-1:0][W:0] outputs;  // fault bit and data
  logic [W-1:0] reciprocal, sine, cosine;
  logic [fp_pkg::FLAGS_W-1:0] reciprocal_flags, sincos_flags;

  for (genvar v = 0; v < DATAPATHS; v++) begin : gen_datapath
    logic [WORD_W-1:0] word_q;
    token_t token_d, token_q;
    logic [LIVE_W-1:0] live_d, live_q;
    logic [CONTEXT_W-1:0] now;  // the context
    assign token_d = tokens[v];
    assign words[v+1] = word_q;
    assign tokens[v+1] = token_q;
    assign lives[v+1] = live_q;

    if (v == 0) begin : gen_first
      assign live_d = lives[v];
    end else begin : gen_later
      assign live_d = lives[v] > LIVE_W'(CONTEXTS) ? lives[v] - LIVE_W'(CONTEXTS) : '0;
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        word_q <= '0;
        token_q <= '0;
        live_q <= '0;
      end else if (advance_i) begin
        word_q <= words[v];
        token_q <= token_d;
        live_q <= live_d;
      end
    end

    if (CONTEXTS == 1) begin : gen_context
      assign now = '0;
    end else begin : gen_contexts
      logic [CONTEXT_W-1:0] context_q;

      always_ff @(posedge clk_i) begin
        if (advance_i) begin
          context_q <= token_d.host_context;
        end else if (!token_q.host) begin
          context_q <= context_q + 1'b1;
        end
      end
      assign now = context_q;
    end

    always_ff @(posedge clk_i) begin
      in_write_q[v] <= in_write_i && in_datapath_i == V_W'(v);
    end

    array_datapath #(
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
    ) u_datapath (
      .clk_i,
      .word_i(word_q),
      .context_i(now),
      .live_i(LIVE_W'(now) < live_q),
      .in_half_i(token_q.in_half),
      .out_half_i(token_q.out_half),
      .first_i(token_q.first),
      .emit_end_i(token_q.emit_end),
      .host_write_i(token_q.host),
      .host_bank_i(token_q.host_bank),
      .host_data_i(token_q.host_data),
      .use_reciprocal_o(use_reciprocal[v]),
      .reciprocal_operand_o(reciprocal_operands[v]),
      .use_sincos_o(use_sincos[v]),
      .sincos_operand_o(sincos_operands[v]),
      .reciprocal_i(reciprocal),
      .reciprocal_flags_i(reciprocal_flags),
      .sine_i(sine),
      .cosine_i(cosine),
      .sincos_flags_i(sincos_flags),
      .in_write_i(in_write_q[v]),
      .in_address_i(in_address_q),
      .in_data_i(in_data_q),
      .out_address_i,
      .out_data_o(outputs[v][W-1:0]),
      .out_fault_o(outputs[v][W]),
      .flags_o(flags[v])
    );
  end

  // ---------------------------------------------------------------------------------------------
  // Reciprocal, sine and cosine, of all datapaths
  // ---------------------------------------------------------------------------------------------
  localparam int RESULTS_W = 3 * W + 2 * fp_pkg::FLAGS_W;
  logic [W-1:0] reciprocal_operand, sincos_operand;
  logic [RESULTS_W-1:0] results;

  step_rare #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .REC_STAGES(REC_STAGES),
    .SINCOS_STAGES(SINCOS_STAGES),
    .LOGIC(RARE_LOGIC),
    .CONTEXTS(CONTEXTS),
    .AHEAD(AHEAD + array_pkg::share_stages(DATAPATHS))
  ) u_rare (
    .clk_i,
    .reciprocal_operand_i(reciprocal_operand),
    .sincos_operand_i(sincos_operand),
    .reciprocal_o(results[W-1:0]),
    .reciprocal_flags_o(results[3*W+:fp_pkg::FLAGS_W]),
    .sine_o(results[W+:W]),
    .cosine_o(results[2*W+:W]),
    .sincos_flags_o(results[3*W+fp_pkg::FLAGS_W+:fp_pkg::FLAGS_W])
  );

  if (DATAPATHS == 1) begin : gen_own
    logic unused;
    assign unused = &{1'b0, use_reciprocal, use_sincos};
    assign reciprocal_operand = reciprocal_operands;
    assign sincos_operand = sincos_operands;
    assign {sincos_flags, reciprocal_flags, cosine, sine, reciprocal} = results;
  end else begin : gen_shared
    array_collect #(
      .W(W),
      .DATAPATHS(DATAPATHS)
    ) u_reciprocal (
      .clk_i,
      .use_i(use_reciprocal),
      .data_i(reciprocal_operands),
      .data_o(reciprocal_operand)
    );

    array_collect #(
      .W(W),
      .DATAPATHS(DATAPATHS)
    ) u_sincos (
      .clk_i,
      .use_i(use_sincos),
      .data_i(sincos_operands),
      .data_o(sincos_operand)
    );

    step_delay #(
      .WIDTH(RESULTS_W),
      .CYCLES(array_pkg::SHARE_STAGES - array_pkg::COLLECT_STAGES)
    ) u_results (
      .clk_i,
      .data_i(results),
      .data_o({sincos_flags, reciprocal_flags, cosine, sine, reciprocal})
    );
  end

  // ---------------------------------------------------------------------------------------------
  // Drain's reads
  // ---------------------------------------------------------------------------------------------
  logic [V_W-1:0] out_datapath;
  logic [DATAPATHS-1:0] out_selected;

  step_delay #(
    .WIDTH(V_W),
    .CYCLES(array_pkg::MEMORY_STAGES)
  ) u_out_datapath (
    .clk_i,
    .data_i(out_datapath_i),
    .data_o(out_datapath)
  );

  for (genvar v = 0; v < DATAPATHS; v++) begin : gen_out
    assign out_selected[v] = out_datapath == V_W'(v);
  end

  array_collect #(
    .W(1 + W),
    .DATAPATHS(DATAPATHS)
  ) u_outputs (
    .clk_i,
    .use_i(out_selected),
    .data_i(outputs),
    .data_o({out_fault_o, out_data_o})
  );

  // ---------------------------------------------------------------------------------------------
  // Flags, and the ends of outputs and of batches
  // ---------------------------------------------------------------------------------------------
  localparam int LOAD_LATENCY = step_pkg::latency(array_pkg::LOAD_STAGES, 0, CONTEXTS);
  // Cycles from a word's last one until its output is in the memory, and its load out of it
  localparam int SETTLE = LOAD_LATENCY > AHEAD ? LOAD_LATENCY : AHEAD + 1;
  localparam int ENDS_W = 3;
  localparam int SETTLING_W = SETTLE * ENDS_W;
  // verilator lint_off UNUSEDSIGNAL  // the rest of the token ends there
  token_t last;
  // verilator lint_on UNUSEDSIGNAL
  logic [ENDS_W-1:0] ends;
  logic [SETTLING_W-1:0] settling_q;  // the oldest on top
  logic [fp_pkg::FLAGS_W-1:0] flags_q;

  function automatic logic [fp_pkg::FLAGS_W-1:0] any_flags(
    input logic [DATAPATHS-1:0][fp_pkg::FLAGS_W-1:0] each
  );
    logic [fp_pkg::FLAGS_W-1:0] all;
    all = '0;
    for (int v = 0; v < DATAPATHS; v++) begin
      all = all | each[v];
    end
    return all;
  endfunction

  assign last = tokens[DATAPATHS];
  assign ends = {last.emit_end, last.out_half, last.done} & {ENDS_W{advance_i}};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      settling_q <= '0;
    end else begin
      settling_q <= SETTLING_W'({settling_q, ends});
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) begin
      flags_q <= '0;
    end else begin
      flags_q <= flags_q | any_flags(flags);
    end
  end

  assign {emitted_o, emitted_half_o, released_o} = settling_q[SETTLING_W-1-:ENDS_W];
  assign flags_o = flags_q;

  logic unused_ends;
  assign unused_ends = &{1'b0, words[DATAPATHS], lives[DATAPATHS]};

endmodule
