// Float adder, correctly rounded: y = a + b. Rules and flags: fp_pkg.sv.
//
// One path: order by magnitude, align, add or subtract, normalise, round.
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock.

module fp_add #(
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

  // Aligned operand: significand, guard bit, round bit. A subtraction that needs more than a
  // one-bit normalisation had operands at most one place apart: two bits and a sticky suffice.
  localparam int ALIGNED_W = MAN_W + 3;
  localparam int ALIGN_LEVELS = $clog2(ALIGNED_W);
  // Sum: carry, significand, guard, round, sticky.
  localparam int SUM_W = MAN_W + 5;
  localparam int NORM_LEVELS = $clog2(SUM_W);
  localparam int FIRST_FINE = NORM_LEVELS / 2;
  // Exponents minus leading zeros, in two's complement.
  localparam int EXPONENT_W = (EXP_W > NORM_LEVELS ? EXP_W : NORM_LEVELS) + 1;
  localparam int DISTANCE_W = EXP_W > ALIGN_LEVELS ? EXP_W : ALIGN_LEVELS;

  // Registered cuts: bit i is the one behind section i + 1, the last one the output.
  localparam logic [5:0] CUT =
      STAGES == 1 ? 6'b100000 :
      STAGES == 2 ? 6'b100100 :
      STAGES == 3 ? 6'b101010 :
      STAGES == 4 ? 6'b110101 :
      STAGES == 5 ? 6'b110111 :
      STAGES == 6 ? 6'b111111 : 6'b000000;

  // What every section hands on.
  typedef struct packed {
    logic             sign;       // of the larger operand
    logic             zero_sign;  // of an exact zero result
    logic             nan;
    logic             infinity;
    logic             zero;       // both operands are zeros
    logic             invalid;
    logic [EXP_W-1:0] exponent;   // of the larger operand; plus one from section 2 on
  } common_t;

  typedef struct packed {
    common_t          common;
    logic             subtract;
    logic [MAN_W-1:0] greater;
    logic [MAN_W-1:0] lesser;
    logic             lesser_is_zero;
    logic [EXP_W-1:0] lesser_exponent;
  } ordered_t;

  typedef struct packed {
    common_t              common;
    logic                 subtract;
    logic [MAN_W-1:0]     greater;
    logic [ALIGNED_W-1:0] lesser;
    logic                 sticky;
  } aligned_t;

  typedef struct packed {
    common_t                common;
    logic [SUM_W-1:0]       value;
    logic [NORM_LEVELS-1:0] leading_zeros;
  } sum_t;

  typedef struct packed {
    common_t               common;
    logic [SUM_W-1:0]      value;
    logic [EXPONENT_W-1:0] exponent;
  } normal_t;

  // ---------------------------------------------------------------------------------------------
  // Section 1: order by magnitude, classify
  // ---------------------------------------------------------------------------------------------
  function automatic ordered_t order(input logic [W-1:0] a, input logic [W-1:0] b);
    logic [W-1:0] greater, lesser;
    logic subtract, greater_special, lesser_special, greater_zero, lesser_zero;
    logic greater_nan, lesser_nan, inf_minus_inf;
    if (a[W-2:0] >= b[W-2:0]) begin
      greater = a;
      lesser = b;
    end else begin
      greater = b;
      lesser = a;
    end
    subtract = a[W-1] ^ b[W-1];
    // From both operands rather than the ordered ones: the larger one is special if any is.
    greater_special = (&a[W-2:MAN_W]) || (&b[W-2:MAN_W]);
    lesser_special = (&a[W-2:MAN_W]) && (&b[W-2:MAN_W]);
    greater_zero = a[W-2:MAN_W] == '0 && b[W-2:MAN_W] == '0;
    lesser_zero = a[W-2:MAN_W] == '0 || b[W-2:MAN_W] == '0;
    greater_nan = greater_special && greater[MAN_W-1:0] != '0;
    lesser_nan = lesser_special && lesser[MAN_W-1:0] != '0;
    inf_minus_inf = lesser_special && !greater_nan && subtract;

    order.subtract = subtract;
    order.greater = greater[MAN_W-1:0];
    order.lesser = lesser[MAN_W-1:0];
    order.lesser_is_zero = lesser_zero;
    order.lesser_exponent = lesser[W-2:MAN_W];

    order.common.sign = greater[W-1];
    order.common.zero_sign = a[W-1] && b[W-1];
    order.common.nan = greater_nan || inf_minus_inf;
    order.common.infinity = greater_special;
    order.common.zero = greater_zero;
    order.common.invalid = (greater_nan && !greater[MAN_W-1]) || (lesser_nan && !lesser[MAN_W-1])
                           || inf_minus_inf;
    order.common.exponent = greater[W-2:MAN_W];
  endfunction

  ordered_t ordered_d, ordered_q;

  assign ordered_d = order(a_i, b_i);

  fp_pipe #(.WIDTH($bits(ordered_t)), .ENABLE(CUT[0])) u_cut_1 (
    .clk_i, .data_i(ordered_d), .data_o(ordered_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 2: align the smaller operand; what leaves on the right is kept as one sticky bit
  // ---------------------------------------------------------------------------------------------
  function automatic aligned_t align(input ordered_t in);
    logic [ALIGNED_W-1:0] lesser;
    logic [DISTANCE_W-1:0] distance;
    logic lost;
    distance = {{(DISTANCE_W - EXP_W) {1'b0}}, in.common.exponent - in.lesser_exponent};
    lesser = {1'b1, in.lesser, 2'b00};
    lost = 1'b0;
    for (int k = ALIGN_LEVELS - 1; k >= 0; k--) begin
      if (distance[k]) begin
        lost = lost | (|(lesser & ~({ALIGNED_W{1'b1}} << (1 << k))));
        lesser = lesser >> (1 << k);
      end
    end
    if ((distance >> ALIGN_LEVELS) != '0) begin
      lost = 1'b1;
      lesser = '0;
    end
    if (in.lesser_is_zero) begin
      lost = 1'b0;
      lesser = '0;
    end
    align.common = in.common;
    align.common.exponent = in.common.exponent + EXP_W'(1);
    align.subtract = in.subtract;
    align.greater = in.greater;
    align.lesser = lesser;
    align.sticky = lost;
  endfunction

  aligned_t aligned_d, aligned_q;

  assign aligned_d = align(ordered_q);

  fp_pipe #(.WIDTH($bits(aligned_t)), .ENABLE(CUT[1])) u_cut_2 (
    .clk_i, .data_i(aligned_d), .data_o(aligned_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 3: add or subtract; the lowest bit of the larger operand is free for the carry in
  // ---------------------------------------------------------------------------------------------
  function automatic sum_t add(input aligned_t in);
    add.common = in.common;
    add.value = {2'b01, in.greater, 2'b00, in.subtract}
              + ({1'b0, in.lesser, in.sticky} ^ {SUM_W{in.subtract}});
    add.leading_zeros = '0;
  endfunction

  sum_t sum_d, sum_q;

  assign sum_d = add(aligned_q);

  fp_pipe #(.WIDTH($bits(sum_t)), .ENABLE(CUT[2])) u_cut_3 (
    .clk_i, .data_i(sum_d), .data_o(sum_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 4 and 5: normalise, by the large steps and then by the small ones
  // ---------------------------------------------------------------------------------------------
  function automatic sum_t normalise(input sum_t in, input int first, input int last);
    logic [SUM_W-1:0] value;
    logic [NORM_LEVELS-1:0] leading_zeros;
    value = in.value;
    leading_zeros = in.leading_zeros;
    for (int k = first; k >= last; k--) begin
      if ((value >> (SUM_W - (1 << k))) == '0) begin
        value = value << (1 << k);
        leading_zeros[k] = 1'b1;
      end
    end
    normalise.common = in.common;
    normalise.value = value;
    normalise.leading_zeros = leading_zeros;
  endfunction

  sum_t coarse_d, coarse_q, fine;
  normal_t fine_d, fine_q;

  assign coarse_d = normalise(sum_q, NORM_LEVELS - 1, FIRST_FINE);

  fp_pipe #(.WIDTH($bits(sum_t)), .ENABLE(CUT[3])) u_cut_4 (
    .clk_i, .data_i(coarse_d), .data_o(coarse_q)
  );

  assign fine = normalise(coarse_q, FIRST_FINE - 1, 0);
  // Leading zeros count from the carry; section 2 has added the one that makes up for it.
  assign fine_d.common = fine.common;
  assign fine_d.value = fine.value;
  assign fine_d.exponent = {{(EXPONENT_W - EXP_W) {1'b0}}, fine.common.exponent}
                           - {{(EXPONENT_W - NORM_LEVELS) {1'b0}}, fine.leading_zeros};

  fp_pipe #(.WIDTH($bits(normal_t)), .ENABLE(CUT[4])) u_cut_5 (
    .clk_i, .data_i(fine_d), .data_o(fine_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 6: round. A sum below the smallest normal is exact, both operands being multiples of the
  // smallest subnormal: rounding never makes it normal
  // ---------------------------------------------------------------------------------------------
  logic sign, guard, sticky, zero, tiny, too_large;
  logic [W-1:0] y;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  assign guard = fine_q.value[3];
  assign sticky = |fine_q.value[2:0];
  assign zero = fine_q.common.zero || !fine_q.value[SUM_W-1];
  assign sign = (zero && !fine_q.common.infinity) ? fine_q.common.zero_sign : fine_q.common.sign;
  assign tiny = fine_q.exponent[EXPONENT_W-1] || fine_q.exponent == '0;
  assign too_large = !fine_q.exponent[EXPONENT_W-1] && (&fine_q.exponent[EXP_W-1:0]);

  fp_round #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W)
  ) u_round (
    .clk_i,
    .sign_i(sign),
    .nan_i(fine_q.common.nan),
    .inf_i(fine_q.common.infinity),
    .zero_i(zero),
    .invalid_i(fine_q.common.invalid),
    .div_by_zero_i(1'b0),
    .tiny_i(tiny),
    .too_large_i(too_large),
    .exponent_i(fine_q.exponent[EXP_W-1:0]),
    .carry_i(1'b0),
    .mantissa_i(fine_q.value[SUM_W-2:4]),
    .round_up_i(guard && (sticky || fine_q.value[4])),
    .inexact_i(guard || sticky),
    .y_o(y),
    .flags_o(flags)
  );

  fp_pipe #(.WIDTH(W + fp_pkg::FLAGS_W), .ENABLE(CUT[5])) u_output (
    .clk_i, .data_i({y, flags}), .data_o({y_o, flags_o})
  );

endmodule
