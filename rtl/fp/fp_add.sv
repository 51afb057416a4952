// Float adder, correctly rounded: y = a + b. Rules and flags: fp_pkg.sv.
//
// One path: align the operand of the smaller exponent, add or subtract, normalise, round. Nothing
// compares the significands: with equal exponents the difference may take either sign. A difference
// is computed inverted, so that it needs no carry in: as lesser - greater - 1. If that is negative,
// its inverse is the magnitude. Else the magnitude is one more, that is value.111...; the ones are
// shifted in where a magnitude has zeros, and rounding makes them the missing one.
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
  // Bits of a shift. All ones shift everything out.
  localparam int SHIFT_W = $clog2(ALIGNED_W + 1);
  localparam int DISTANCE_W = EXP_W > SHIFT_W ? EXP_W : SHIFT_W;
  // Sum: carry or sign, significand, guard, round, sticky.
  localparam int SUM_W = MAN_W + 5;
  // Bits of the leading zeros, an odd number: pairs, and the last one.
  localparam int ZEROS_W = ($clog2(SUM_W) / 2) * 2 + 1;
  // Exponents minus leading zeros.
  localparam int EXPONENT_W = (EXP_W > ZEROS_W ? EXP_W : ZEROS_W) + 1;

  // Registered cuts: bit i is the one behind section i + 1, the last one the output.
  localparam logic [6:0] CUT =
      STAGES == 1 ? 7'b1000000 :
      STAGES == 2 ? 7'b1001000 :
      STAGES == 3 ? 7'b1010100 :
      STAGES == 4 ? 7'b1101010 :
      STAGES == 5 ? 7'b1101110 :
      STAGES == 6 ? 7'b1111110 : 7'b0000000;
  // The output register is cleared for a result that becomes zero, which takes no logic. Without a
  // register its bits are masked before they are rounded.
  localparam bit CLEAR = STAGES > 0;

  // What every section hands on.
  typedef struct packed {
    logic             sign;      // of the operand of the greater exponent
    logic             subtract;
    logic             special;   // an operand is infinite or NaN
    logic             no_sum;    // both are, and differ in sign
    logic             zero;      // both operands are zeros
    logic             invalid;
    logic [EXP_W-1:0] exponent;  // the greater one
  } common_t;

  typedef struct packed {
    common_t            common;
    logic [MAN_W-1:0]   a;
    logic [MAN_W-1:0]   b;
    logic               swap;     // the exponent of b is the greater one
    logic               discard;  // the other operand does not count
    logic [SHIFT_W-1:0] shift;
  } compared_t;

  typedef struct packed {
    common_t              common;
    logic [MAN_W-1:0]     a;
    logic [MAN_W-1:0]     b;
    logic                 swap;
    logic                 discard;
    logic [SHIFT_W-1:1]   shift;
    logic [ALIGNED_W-1:0] lesser;
  } swapped_t;

  typedef struct packed {
    common_t              common;
    logic [MAN_W-1:0]     a;
    logic [MAN_W-1:0]     b;
    logic                 swap;
    logic [ALIGNED_W-1:0] lesser;
    logic                 sticky;
  } aligned_t;

  typedef struct packed {
    common_t            common;
    logic               too_large;  // exponent not below all ones
    logic               invert;     // the magnitude is the inverse of value
    logic [SUM_W-1:0]   value;
    logic [ZEROS_W-1:0] zeros;
  } sum_t;

  typedef struct packed {
    common_t               common;
    logic                  too_large;
    logic                  invert;
    logic [SUM_W-1:0]      value;
    logic                  low_ones;  // below the leading one, but for the top bits
    logic [EXPONENT_W-1:0] exponent;  // its inverse, less one
  } normal_t;

  // ---------------------------------------------------------------------------------------------
  // Section 1: compare the exponents, classify
  // ---------------------------------------------------------------------------------------------
  function automatic compared_t compare(input logic [W-1:0] a, input logic [W-1:0] b);
    logic [EXP_W:0] difference;
    logic [DISTANCE_W-1:0] distance;
    logic swap, subtract, special_a, special_b, zero_a, zero_b, nan_a, nan_b, discard;
    difference = {1'b0, a[W-2:MAN_W]} - {1'b0, b[W-2:MAN_W]};
    swap = difference[EXP_W];
    subtract = a[W-1] ^ b[W-1];
    special_a = &a[W-2:MAN_W];
    special_b = &b[W-2:MAN_W];
    zero_a = a[W-2:MAN_W] == '0;
    zero_b = b[W-2:MAN_W] == '0;
    nan_a = special_a && a[MAN_W-1:0] != '0;
    nan_b = special_b && b[MAN_W-1:0] != '0;
    discard = zero_a || zero_b || (special_a != special_b);
    // Short of one if swapped: the swap itself shifts by one then.
    distance = {{(DISTANCE_W - EXP_W) {1'b0}}, difference[EXP_W-1:0] ^ {EXP_W{swap}}};

    compare.a = a[MAN_W-1:0];
    compare.b = b[MAN_W-1:0];
    compare.swap = swap;
    compare.discard = discard;
    compare.shift = distance[SHIFT_W-1:0]
                    | {SHIFT_W{discard || (distance >> SHIFT_W) != '0}};

    compare.common.sign = swap ? b[W-1] : a[W-1];
    compare.common.subtract = subtract;
    compare.common.special = special_a || special_b;
    compare.common.no_sum = special_a && special_b && subtract;
    compare.common.zero = zero_a && zero_b;
    compare.common.invalid = (nan_a && !a[MAN_W-1]) || (nan_b && !b[MAN_W-1])
                             || (special_a && special_b && subtract && !nan_a && !nan_b);
    compare.common.exponent = swap ? b[W-2:MAN_W] : a[W-2:MAN_W];
  endfunction

  compared_t compared_d, compared_q;

  assign compared_d = compare(a_i, b_i);

  fp_pipe #(.WIDTH($bits(compared_t)), .ENABLE(CUT[0])) u_cut_1 (
    .clk_i, .data_i(compared_d), .data_o(compared_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 2: swap and align by one place
  // ---------------------------------------------------------------------------------------------
  function automatic swapped_t swap(input compared_t in);
    logic [ALIGNED_W-1:0] from_a, from_b, lesser;
    logic implicit_one;
    // None in an infinity or NaN: they are told apart by the sum being zero.
    implicit_one = !in.common.special;
    from_a = {1'b0, implicit_one, in.a, 1'b0};
    from_b = {implicit_one, in.b, 2'b00};
    // The same either way: mapped smaller among other logic, and faster among registers.
    if (STAGES == 0) begin
      lesser = in.swap ? (in.shift[0] ? from_a >> 1 : from_a)
                       : (in.shift[0] ? from_b >> 1 : from_b);
    end else begin
      lesser = in.swap ? from_a : from_b;
      lesser = in.shift[0] ? lesser >> 1 : lesser;
    end
    swap.common = in.common;
    swap.a = in.a;
    swap.b = in.b;
    swap.swap = in.swap;
    swap.discard = in.discard;
    swap.shift = in.shift[SHIFT_W-1:1];
    swap.lesser = lesser;
  endfunction

  swapped_t swapped_d, swapped_q;

  assign swapped_d = swap(compared_q);

  fp_pipe #(.WIDTH($bits(swapped_t)), .ENABLE(CUT[1])) u_cut_2 (
    .clk_i, .data_i(swapped_d), .data_o(swapped_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 3: align by the other places; what leaves on the right is kept as one sticky bit
  // ---------------------------------------------------------------------------------------------
  function automatic aligned_t align(input swapped_t in);
    logic [ALIGNED_W-1:0] lesser, below;
    logic [SHIFT_W:1] shift;
    logic [1:0] places;
    logic lost;
    lesser = in.lesser;
    shift = {1'b0, in.shift};
    lost = 1'b0;
    // Two bits of the shift at a time: a multiplexer of four inputs.
    for (int k = 1; k < SHIFT_W; k += 2) begin
      places = shift[k+:2];
      below = ~({ALIGNED_W{1'b1}} << (1 << k));
      lost = lost || (places != 2'd0 && (lesser & below) != '0)
                  || (places[1] && ((lesser >> (1 << k)) & below) != '0)
                  || (places == 2'd3 && ((lesser >> (2 << k)) & below) != '0);
      lesser = places[1] ? (places[0] ? lesser >> (3 << k) : lesser >> (2 << k))
                         : (places[0] ? lesser >> (1 << k) : lesser);
    end
    align.common = in.common;
    align.a = in.a;
    align.b = in.b;
    align.swap = in.swap;
    align.lesser = lesser;
    align.sticky = lost && !in.discard;
  endfunction

  aligned_t aligned_d, aligned_q;

  assign aligned_d = align(swapped_q);

  fp_pipe #(.WIDTH($bits(aligned_t)), .ENABLE(CUT[2])) u_cut_3 (
    .clk_i, .data_i(aligned_d), .data_o(aligned_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 4: add or subtract
  // ---------------------------------------------------------------------------------------------
  function automatic sum_t add(input aligned_t in);
    logic [SUM_W-1:0] greater, value;
    greater = {1'b0, !in.common.special, in.swap ? in.b : in.a, 3'b000};
    value = {1'b0, in.lesser, in.sticky} + (greater ^ {SUM_W{in.common.subtract}});
    add.common = in.common;
    add.invert = in.common.subtract && value[SUM_W-1];
    add.too_large = !in.common.subtract && value[SUM_W-1]
                    && (&in.common.exponent[EXP_W-1:1]) && !in.common.exponent[0];
    add.value = value;
    add.zeros = '0;
  endfunction

  sum_t sum_d, sum_q;

  assign sum_d = add(aligned_q);

  fp_pipe #(.WIDTH($bits(sum_t)), .ENABLE(CUT[3])) u_cut_4 (
    .clk_i, .data_i(sum_d), .data_o(sum_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 5 and 6: normalise, by the large steps and then by the small ones
  // ---------------------------------------------------------------------------------------------
  // Ones come in if subtracting: zeros of a magnitude that is inverted.
  function automatic logic [SUM_W-1:0] shift_left(
    input logic [SUM_W-1:0] value, input logic fill, input int places
  );
    shift_left = {SUM_W{fill}};
    if (places < SUM_W) begin
      shift_left = (value << places) | ({SUM_W{fill}} >> (SUM_W - places));
    end
  endfunction

  function automatic sum_t normalise(input sum_t in, input int first, input int last);
    logic [SUM_W-1:0] value, change;
    logic [ZEROS_W-1:0] zeros;
    logic fill, zero_1, zero_2, zero_3;
    value = in.value;
    zeros = in.zeros;
    fill = in.common.subtract;
    for (int k = first; k >= last; k -= 2) begin
      // Leading zeros of the magnitude are bits equal to a top bit that is zero in the magnitude.
      change = value ^ (value << 1);
      zero_1 = value[SUM_W-1] == in.invert && (change >> (SUM_W + 1 - (1 << k))) == '0;
      zero_2 = ((change << ((1 << k) - 1)) >> (SUM_W - (1 << k))) == '0;
      zero_3 = ((change << ((2 << k) - 1)) >> (SUM_W - (1 << k))) == '0;
      zeros[k+1] = zero_1 && zero_2;
      zeros[k] = zero_1 && (!zero_2 || zero_3);
      value = zeros[k+1] ? (zeros[k] ? shift_left(value, fill, 3 << k)
                                     : shift_left(value, fill, 2 << k))
                         : (zeros[k] ? shift_left(value, fill, 1 << k) : value);
    end
    normalise.common = in.common;
    normalise.too_large = in.too_large;
    normalise.invert = in.invert;
    normalise.value = value;
    normalise.zeros = zeros;
  endfunction

  function automatic normal_t normal(input logic [SUM_W-1:0] coarse, input sum_t fine);
    logic [EXP_W-1:0] exponent;
    exponent = fine.common.exponent;
    normal.common = fine.common;
    normal.too_large = fine.too_large;
    normal.invert = fine.invert;
    normal.value = fine.value;
    // Below the eight bits that hold the leading one, whatever the fine shift is.
    normal.low_ones = (~coarse << 8) == '0;
    // The inverse of the exponent, which is that of a value without carry, less one.
    normal.exponent = {{(EXPONENT_W - ZEROS_W) {1'b0}}, fine.zeros}
                      + {{(EXPONENT_W - EXP_W) {1'b0}}, ~exponent};
  endfunction

  sum_t coarse_d, coarse_q, fine;
  normal_t normal_d, normal_q;

  assign coarse_d = normalise(sum_q, ZEROS_W - 2, 3);

  fp_pipe #(.WIDTH($bits(sum_t)), .ENABLE(CUT[4])) u_cut_5 (
    .clk_i, .data_i(coarse_d), .data_o(coarse_q)
  );

  assign fine = normalise(coarse_q, 1, 1);
  assign normal_d = normal(coarse_q.value, fine);

  fp_pipe #(.WIDTH($bits(normal_t)), .ENABLE(CUT[5])) u_cut_6 (
    .clk_i, .data_i(normal_d), .data_o(normal_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 7: normalise by the last place and round. A sum below the smallest normal is exact,
  // both operands being multiples of the smallest subnormal
  // ---------------------------------------------------------------------------------------------
  function automatic logic [W+fp_pkg::FLAGS_W-1:0] round(input normal_t in);
    logic [SUM_W-1:0] magnitude;
    logic [MAN_W-1:0] mantissa;
    logic [EXP_W+MAN_W-1:0] rounded;
    logic carry, guard, sticky, nonzero, negated, ones, below_zero, is_zero, minus_one;
    logic sign, nan, finite, tiny, too_large, flush, saturate, keep, overflow, inexact, unused;
    magnitude = in.value ^ {SUM_W{in.invert}};
    carry = magnitude[SUM_W-1];
    nonzero = carry || magnitude[SUM_W-2];
    negated = in.common.subtract && !in.invert;
    mantissa = carry ? magnitude[SUM_W-2:4] : magnitude[SUM_W-3:3];
    guard = carry ? magnitude[3] : magnitude[2];
    sticky = (|magnitude[1:0]) || (carry && magnitude[2]);

    // Exponent + carry <= 0, unless 11..1 and the missing one make it 1.
    ones = negated && in.low_ones && ((~in.value << 1) >> (SUM_W - 7)) == '0;
    below_zero = (in.exponent >> EXP_W) != '0;
    is_zero = !below_zero && (&in.exponent[EXP_W-1:0]);
    minus_one = in.exponent == EXPONENT_W'(1 << EXP_W);
    tiny = is_zero ? !(carry || ones) : below_zero && !(minus_one && carry && ones);

    nan = in.common.special && (nonzero || in.common.no_sum);
    too_large = CLEAR ? in.too_large : carry && in.exponent == EXPONENT_W'(1);
    saturate = in.common.special || too_large;
    finite = !in.common.special && !in.common.zero && nonzero;
    flush = !saturate && (in.common.zero || !nonzero || tiny);
    sign = (in.common.sign ^ negated) && !nan
           && (in.common.special || finite || !in.common.subtract);

    keep = !saturate && (CLEAR || !flush);
    {rounded, unused} =
        {~in.exponent[EXP_W-1:0] & {EXP_W{keep}} | {EXP_W{saturate}},
         mantissa & {MAN_W{keep}} | {nan, {(MAN_W - 1) {1'b0}}}, guard && keep}
        + {{(EXP_W - 1) {1'b0}}, carry && keep, {MAN_W{1'b0}}, sticky || mantissa[0]};
    if (CLEAR && flush) rounded = '0;

    overflow = finite && (&rounded[EXP_W+MAN_W-1:MAN_W]);
    inexact = finite && (overflow || tiny || ((guard || sticky) && !negated));
    // In the order of fp_pkg, highest bit first; one concatenation, as Icarus is slow at parts.
    round = {sign, rounded, in.common.invalid, 1'b0, overflow, finite && tiny, inexact};
  endfunction

  logic [W+fp_pkg::FLAGS_W-1:0] result_d;

  assign result_d = round(normal_q);

  fp_pipe #(.WIDTH(W + fp_pkg::FLAGS_W), .ENABLE(CUT[6])) u_output (
    .clk_i, .data_i(result_d), .data_o({y_o, flags_o})
  );

endmodule
