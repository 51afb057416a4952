// fp_recip as a pipeline that can be held: its registers move only with enable_i.
//
// Latency: STAGES clocks with enable_i, 0 = combinational. Throughput: one operation a clock.

module fp_recip_pipeline #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0,
  parameter int METHOD = fp_pkg::RECIP_ARRAY,
  parameter int DSP_W = fp_pkg::DSP_W
) (
  input  logic                       clk_i,
  input  logic                       enable_i,
  input  logic [EXP_W+MAN_W:0]       a_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  fp_check #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(STAGES),
    .MAX_STAGES(METHOD == fp_pkg::RECIP_ARRAY ? fp_pkg::RECIP_ARRAY_MAX_STAGES
                                              : fp_pkg::RECIP_MAX_STAGES)
  ) u_check ();

  if (METHOD != fp_pkg::RECIP_ARRAY && METHOD != fp_pkg::RECIP_TABLE) begin : gen_bad_method
    initial $fatal(1, "%m: METHOD is %0d, must be RECIP_ARRAY or RECIP_TABLE", METHOD);
  end

  localparam int MIN_DSP_W = 17;  // as fp_mul
  if (DSP_W < MIN_DSP_W) begin : gen_check_dsp_w
    initial $fatal(1, "%m: DSP_W is %0d, must be at least %0d", DSP_W, MIN_DSP_W);
  end

  // The table of a wider format would not even elaborate.
  localparam bit TOO_WIDE = METHOD == fp_pkg::RECIP_TABLE && MAN_W > fp_pkg::RECIP_TABLE_MAX_MAN_W;
  if (TOO_WIDE) begin : gen_too_wide
    initial $fatal(1, "%m: RECIP_TABLE goes up to MAN_W %0d, not %0d: take another METHOD",
                   fp_pkg::RECIP_TABLE_MAX_MAN_W, MAN_W);
  end

  localparam int W = 1 + EXP_W + MAN_W;
  // The last register is the output's, the others lie in the division, and parallel to it.
  localparam int CUTS = STAGES > 0 ? STAGES - 1 : 0;

  // ---------------------------------------------------------------------------------------------
  // Classify, and keep the outcome for as long as the division takes
  // ---------------------------------------------------------------------------------------------
  typedef struct packed {
    logic                       sign;
    logic [EXP_W-1:0]           exponent;
    logic                       finite;
    logic                       nan;
    logic [fp_pkg::FLAGS_W-1:0] flags;
  } class_t;

  // In two sections where there are registers enough
  localparam int OPERAND_CUTS = CUTS > 1 ? 1 : 0;
  wire [$bits(class_t)-1:0] delayed[OPERAND_CUTS:CUTS];
  logic sign, finite, nan;
  logic [EXP_W-1:0] exponent;
  logic [fp_pkg::FLAGS_W-1:0] flags;
  class_t divided;

  fp_recip_operand #(.EXP_W(EXP_W), .MAN_W(MAN_W), .CUT(OPERAND_CUTS != 0)) u_operand (
    .clk_i,
    .enable_i,
    .a_i,
    .sign_o(sign),
    .exponent_o(exponent),
    .finite_o(finite),
    .nan_o(nan),
    .flags_o(flags)
  );

  // One concatenation, as Icarus is slow at parts.
  assign delayed[OPERAND_CUTS] = {sign, exponent, finite, nan, flags};
  for (genvar i = OPERAND_CUTS; i < CUTS; i++) begin : gen_delay
    fp_pipe #(.WIDTH($bits(class_t))) u_cut (
      .clk_i, .enable_i, .data_i(delayed[i]), .data_o(delayed[i+1])
    );
  end
  assign divided = delayed[CUTS];

  // ---------------------------------------------------------------------------------------------
  // Divide
  // ---------------------------------------------------------------------------------------------
  logic [MAN_W-1:0] mantissa;
  logic round_up;

  // Nor would that of a format which u_check refuses.
  localparam bit FITS = !TOO_WIDE && MAN_W >= fp_pkg::MIN_MAN_W;
  if (METHOD == fp_pkg::RECIP_TABLE && FITS) begin : gen_table
    fp_recip_table #(.MAN_W(MAN_W), .CUTS(CUTS), .DSP_W(DSP_W)) u_divide (
      .clk_i, .enable_i, .fraction_i(a_i[MAN_W-1:0]), .mantissa_o(mantissa), .round_up_o(round_up)
    );
  end else begin : gen_array
    fp_recip_array #(.MAN_W(MAN_W), .CUTS(CUTS)) u_divide (
      .clk_i, .enable_i, .fraction_i(a_i[MAN_W-1:0]), .mantissa_o(mantissa), .round_up_o(round_up)
    );
  end

  // ---------------------------------------------------------------------------------------------
  // Round and pack
  // ---------------------------------------------------------------------------------------------
  logic [W-1:0] y;

  fp_recip_pack #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_pack (
    .sign_i(divided.sign),
    .exponent_i(divided.exponent),
    .finite_i(divided.finite),
    .nan_i(divided.nan),
    .mantissa_i(mantissa),
    .round_up_i(round_up),
    .y_o(y)
  );

  fp_pipe #(.WIDTH(W + fp_pkg::FLAGS_W), .ENABLE(STAGES > 0)) u_output (
    .clk_i, .enable_i, .data_i({y, divided.flags}), .data_o({y_o, flags_o})
  );

endmodule
