// What a reciprocal's result is but for its mantissa: the same for every method of division.
//
// A reciprocal never overflows. It underflows where its exponent lies below the smallest normal's,
// as no reciprocal rounds up to a power of two; that of a significand 1.0 is one, exactly. So the
// operand alone decides about every flag.
//
// Latency: 1 clock with enable_i if CUT, otherwise 0. Throughput: one operand a clock.

module fp_recip_operand #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter bit CUT = 1'b0  // register between the two sections
) (
  input  logic                       clk_i,
  input  logic                       enable_i,
  input  logic [EXP_W+MAN_W:0]       a_i,
  output logic                       sign_o,
  output logic [EXP_W-1:0]           exponent_o,  // of a quotient in [1/2, 1), before rounding
  output logic                       finite_o,    // and not zero; otherwise exponent_o is final
  output logic                       nan_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int W = 1 + EXP_W + MAN_W;

  // The result's exponent is this less the operand's. Larger operands' reciprocals are tiny, those
  // of the same exponent too, but for the power of two, which rounding takes to exponent 1.
  localparam logic [EXP_W-1:0] TWICE_BIAS_LESS_1 = {{(EXP_W - 2) {1'b1}}, 2'b01};

  typedef struct packed {
    logic             sign;
    logic [EXP_W-1:0] exponent;
    logic             fraction;  // not zero
    logic             quiet;     // a NaN with this fraction
  } parts_t;

  typedef struct packed {
    logic                       sign;
    logic [EXP_W-1:0]           exponent;
    logic                       finite;
    logic                       nan;
    logic [fp_pkg::FLAGS_W-1:0] flags;
  } class_t;

  function automatic parts_t take_apart(input logic [W-1:0] a);
    take_apart.sign = a[W-1];
    take_apart.exponent = a[W-2:MAN_W];
    take_apart.fraction = a[MAN_W-1:0] != '0;
    take_apart.quiet = a[MAN_W-1];
  endfunction

  function automatic class_t classify(input parts_t in);
    logic zero, special, fraction, nan, tiny, finite;
    logic [EXP_W-1:0] exponent;
    exponent = in.exponent;
    fraction = in.fraction;
    zero = exponent == '0;
    special = &exponent;
    nan = special && fraction;
    tiny = (&exponent[EXP_W-1:2]) && (exponent[1] ? !exponent[0] : exponent[0] && fraction);
    finite = !(zero || special || tiny);
    classify.sign = in.sign && !nan;
    classify.exponent = (TWICE_BIAS_LESS_1 - exponent) & {EXP_W{finite}} | {EXP_W{zero || nan}};
    classify.finite = finite;
    classify.nan = nan;
    // In the order of fp_pkg, highest bit first: invalid, by zero, overflow, underflow, inexact.
    classify.flags = {nan && !in.quiet, zero, 1'b0, tiny, tiny || (finite && fraction)};
  endfunction

  parts_t parts_d, parts_q;

  assign parts_d = take_apart(a_i);

  fp_pipe #(.WIDTH($bits(parts_t)), .ENABLE(CUT)) u_cut (
    .clk_i, .enable_i, .data_i(parts_d), .data_o(parts_q)
  );

  assign {sign_o, exponent_o, finite_o, nan_o, flags_o} = classify(parts_q);

endmodule
