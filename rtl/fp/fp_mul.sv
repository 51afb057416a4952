// Float multiplier, correctly rounded: y = a * b. Rules and flags: fp_pkg.sv.
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock.

module fp_mul #(
  parameter int EXP_W  = 8,
  parameter int MAN_W  = 23,
  parameter int STAGES = 0
) (
  input  logic                       clk_i,
  input  logic [EXP_W+MAN_W:0]       a_i,
  input  logic [EXP_W+MAN_W:0]       b_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  fp_check #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES)) u_check ();

  localparam int W = 1 + EXP_W + MAN_W;
  localparam int SIG_W = MAN_W + 1;
  localparam int PRODUCT_W = 2 * SIG_W;

  // A DSP block multiplies 24 by 17 unsigned bits: binary32 takes one for the low bits of b and
  // one for the rest. Narrow significands leave only b's implicit bit to the second product.
  localparam int DSP_W = 17;
  localparam int LOW_W = MAN_W > DSP_W ? DSP_W : MAN_W;
  localparam int HIGH_W = SIG_W - LOW_W;

  localparam logic [SIG_W+LOW_W-1:0] HALF = 1 << (MAN_W - 1);

  // The exponents' sum plus one. Less 2^(EXP_W-1), it is the biased exponent of a product in [1, 2).
  localparam int EXPONENT_W = EXP_W + 1;

  // Registered cuts: bit 0 is behind the ports, bit i behind section i, the last one the output.
  localparam logic [5:0] CUT =
      STAGES == 1 ? 6'b100000 :
      STAGES == 2 ? 6'b100100 :
      STAGES == 3 ? 6'b100110 :
      STAGES == 4 ? 6'b101110 :
      STAGES == 5 ? 6'b101111 :
      STAGES == 6 ? 6'b111111 : 6'b000000;

  // What every section hands on.
  typedef struct packed {
    logic                  sign;
    logic                  nan;
    logic                  infinity;
    logic                  zero;
    logic                  invalid;
    logic [EXPONENT_W-1:0] exponent;  // sum plus one
  } common_t;

  typedef struct packed {
    common_t                 common;
    logic [SIG_W+LOW_W-1:0]  low;
    logic [SIG_W+HIGH_W-1:0] high;
  } partial_t;

  typedef struct packed {
    common_t              common;
    logic [PRODUCT_W-1:0] value;
  } product_t;

  typedef struct packed {
    common_t          common;
    logic             carry;  // product in [2, 4)
    logic             tiny;
    logic             too_large;
    logic [MAN_W-1:0] mantissa;
    logic             round_up;
    logic             inexact;
  } normal_t;

  // ---------------------------------------------------------------------------------------------
  // Operands
  // ---------------------------------------------------------------------------------------------
  logic [W-1:0] a_q, b_q;

  fp_pipe #(.WIDTH(2 * W), .ENABLE(CUT[0])) u_operands (
    .clk_i, .data_i({a_i, b_i}), .data_o({a_q, b_q})
  );

  // ---------------------------------------------------------------------------------------------
  // Section 1: classify, add the exponents, two partial products
  // ---------------------------------------------------------------------------------------------
  function automatic common_t classify(input logic [W-1:0] a, input logic [W-1:0] b);
    logic special_a, special_b, nan_a, nan_b, zero_a, zero_b, zero_times_inf, unused;
    special_a = &a[W-2:MAN_W];
    special_b = &b[W-2:MAN_W];
    nan_a = special_a && a[MAN_W-1:0] != '0;
    nan_b = special_b && b[MAN_W-1:0] != '0;
    zero_a = a[W-2:MAN_W] == '0;
    zero_b = b[W-2:MAN_W] == '0;
    zero_times_inf = (zero_a && special_b && !nan_b) || (zero_b && special_a && !nan_a);

    classify.sign = a[W-1] ^ b[W-1];
    classify.nan = nan_a || nan_b || zero_times_inf;
    classify.infinity = special_a || special_b;
    classify.zero = zero_a || zero_b;
    classify.invalid = (nan_a && !a[MAN_W-1]) || (nan_b && !b[MAN_W-1]) || zero_times_inf;
    // The lowest bit makes the carry in.
    {classify.exponent, unused} = {1'b0, a[W-2:MAN_W], 1'b1} + {1'b0, b[W-2:MAN_W], 1'b1};
  endfunction

  partial_t partial_d, partial_q;
  logic [SIG_W-1:0] sig_a;
  logic [LOW_W-1:0] sig_b_low;
  logic [HIGH_W-1:0] sig_b_high;

  assign sig_a = {1'b1, a_q[MAN_W-1:0]};
  assign {sig_b_high, sig_b_low} = {1'b1, b_q[MAN_W-1:0]};

  assign partial_d.common = classify(a_q, b_q);
  assign partial_d.low = {{LOW_W{1'b0}}, sig_a} * {{SIG_W{1'b0}}, sig_b_low}
                         + HALF;
  assign partial_d.high = {{HIGH_W{1'b0}}, sig_a} * {{SIG_W{1'b0}}, sig_b_high};

  fp_pipe #(.WIDTH($bits(partial_t)), .ENABLE(CUT[1])) u_cut_1 (
    .clk_i, .data_i(partial_d), .data_o(partial_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 2: product in [1, 4), two bits before the point
  // ---------------------------------------------------------------------------------------------
  product_t product_d, product_q;
  logic [SIG_W+HIGH_W-1:0] upper;

  assign upper = partial_q.high + {{HIGH_W{1'b0}}, partial_q.low[SIG_W+LOW_W-1:LOW_W]};
  assign product_d.common = partial_q.common;
  assign product_d.value = {upper, partial_q.low[LOW_W-1:0]};

  fp_pipe #(.WIDTH($bits(product_t)), .ENABLE(CUT[2])) u_cut_2 (
    .clk_i, .data_i(product_d), .data_o(product_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 3: normalise by at most one place, decide the rounding
  // ---------------------------------------------------------------------------------------------
  function automatic normal_t normalise(input product_t in);
    logic carry, guard, below, zeros, top, middle;
    logic [EXP_W-2:0] low;
    logic [MAN_W-1:0] mantissa;
    carry = in.value[PRODUCT_W-1];
    guard = in.value[SIG_W-1];
    below = in.value[SIG_W-2];
    zeros = in.value[SIG_W-3:0] == '0;
    if (carry) mantissa = in.value[PRODUCT_W-2:SIG_W];
    else mantissa = {in.value[PRODUCT_W-3:SIG_W], guard && (below || !zeros)};
    normalise.common = in.common;
    {top, middle, low} = in.common.exponent;
    normalise.carry = carry;
    normalise.tiny = !top && (!middle || (low == '0 && !carry));
    normalise.too_large = top && (middle || ((&low[EXP_W-2:1]) && (low[0] || carry)));
    normalise.mantissa = mantissa;
    normalise.round_up = carry && guard && below && (!zeros || mantissa[0]);
    normalise.inexact = !(zeros && below) || (carry && guard);
  endfunction

  normal_t normal_d, normal_q;

  assign normal_d = normalise(product_q);

  fp_pipe #(.WIDTH($bits(normal_t)), .ENABLE(CUT[3])) u_cut_3 (
    .clk_i, .data_i(normal_d), .data_o(normal_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 4 and 5: select and round
  // ---------------------------------------------------------------------------------------------
  logic [W-1:0] y;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  fp_round #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .CUT(CUT[4])
  ) u_round (
    .clk_i,
    .sign_i(normal_q.common.sign),
    .nan_i(normal_q.common.nan),
    .inf_i(normal_q.common.infinity),
    .zero_i(normal_q.common.zero),
    .invalid_i(normal_q.common.invalid),
    .div_by_zero_i(1'b0),
    .tiny_i(normal_q.tiny),
    .too_large_i(normal_q.too_large),
    .exponent_i(normal_q.common.exponent[EXP_W-1:0] ^ {1'b1, {(EXP_W - 1) {1'b0}}}),
    .carry_i(normal_q.carry),
    .mantissa_i(normal_q.mantissa),
    .round_up_i(normal_q.round_up),
    .inexact_i(normal_q.inexact),
    .y_o(y),
    .flags_o(flags)
  );

  fp_pipe #(.WIDTH(W + fp_pkg::FLAGS_W), .ENABLE(CUT[5])) u_output (
    .clk_i, .data_i({y, flags}), .data_o({y_o, flags_o})
  );

endmodule
