// The lanes of a step engine that programs use rarely: reciprocal, sine and cosine. One of each
// serves a datapath (step_datapath), or several that take turns. With LOGIC they have no
// multipliers, and fp_pkg::LOGIC_STAGES (11) stages more than REC_STAGES and SINCOS_STAGES.
//
// AHEAD registers lie between a word and the result outside of here: before the operands that come
// in, or behind the results. A result comes step_pkg::latency cycles, AHEAD included, after the
// word that issued it, a multiple of CONTEXTS, and is there for one cycle. No reset.
//
// Latency: STAGES of the unit, and with AHEAD up to a multiple of CONTEXTS. Throughput: one
// operation of each a cycle.

module step_rare #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int REC_STAGES = 6,
  parameter int SINCOS_STAGES = 13,
  parameter int LOGIC = 0,
  parameter int CONTEXTS = 1,
  parameter int AHEAD = 1,
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic         clk_i,
  input  logic [W-1:0] reciprocal_operand_i,
  input  logic [W-1:0] sincos_operand_i,

  output logic [W-1:0]               reciprocal_o,
  output logic [fp_pkg::FLAGS_W-1:0] reciprocal_flags_o,
  output logic [W-1:0]               sine_o,
  output logic [W-1:0]               cosine_o,
  output logic [fp_pkg::FLAGS_W-1:0] sincos_flags_o
);

  // What is asked for: contexts may round up even less than no stages.
  fp_check #(.STAGES(REC_STAGES), .MAX_STAGES(fp_pkg::RECIP_MAX_STAGES)) u_check_rec ();
  fp_check #(.STAGES(SINCOS_STAGES), .MAX_STAGES(fp_pkg::MAX_SINCOS_STAGES)) u_check_sincos ();

  if (LOGIC != 0 && LOGIC != 1) begin : gen_check
    initial $fatal(1, "%m: LOGIC %0d must be 0 or 1", LOGIC);
  end

  localparam int MORE = LOGIC != 0 ? fp_pkg::LOGIC_STAGES : 0;
  localparam int REC_MOST = LOGIC != 0 ? fp_pkg::RECIP_ARRAY_MAX_STAGES : fp_pkg::RECIP_MAX_STAGES;
  localparam int SINCOS_MOST = fp_pkg::MAX_SINCOS_STAGES + MORE;
  localparam int REC_UNIT = step_pkg::unit_stages(REC_STAGES + MORE, REC_MOST, AHEAD, CONTEXTS);
  localparam int SINCOS_UNIT =
      step_pkg::unit_stages(SINCOS_STAGES + MORE, SINCOS_MOST, AHEAD, CONTEXTS);
  localparam int REC_PADDING = step_pkg::padding(REC_STAGES + MORE, REC_MOST, AHEAD, CONTEXTS);
  localparam int SINCOS_PADDING =
      step_pkg::padding(SINCOS_STAGES + MORE, SINCOS_MOST, AHEAD, CONTEXTS);
  localparam bit TABLE = LOGIC == 0 && MAN_W <= fp_pkg::RECIP_TABLE_MAX_MAN_W;

  logic [W-1:0] reciprocal, sine, cosine;
  logic [fp_pkg::FLAGS_W-1:0] reciprocal_flags, sincos_flags;

  fp_recip #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(REC_UNIT),
    .METHOD(TABLE ? fp_pkg::RECIP_TABLE : fp_pkg::RECIP_ARRAY)
  ) u_recip (
    .clk_i,
    .a_i(reciprocal_operand_i),
    .y_o(reciprocal),
    .flags_o(reciprocal_flags)
  );

  step_delay #(
    .WIDTH(fp_pkg::FLAGS_W + W),
    .CYCLES(REC_PADDING)
  ) u_recip_padding (
    .clk_i,
    .data_i({reciprocal_flags, reciprocal}),
    .data_o({reciprocal_flags_o, reciprocal_o})
  );

  fp_sincos #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(SINCOS_UNIT),
    .LOGIC(LOGIC != 0)
  ) u_sincos (
    .clk_i,
    .a_i(sincos_operand_i),
    .sin_o(sine),
    .cos_o(cosine),
    .flags_o(sincos_flags)
  );

  step_delay #(
    .WIDTH(fp_pkg::FLAGS_W + 2 * W),
    .CYCLES(SINCOS_PADDING)
  ) u_sincos_padding (
    .clk_i,
    .data_i({sincos_flags, sine, cosine}),
    .data_o({sincos_flags_o, sine_o, cosine_o})
  );

endmodule
