// Float adder, correctly rounded: y = a + b. Rules and flags: fp_pkg.sv.
//
// One path: align the operand of the smaller exponent, add or subtract, normalise, round. Nothing
// compares the significands: with equal exponents the difference may take either sign. A difference
// is computed inverted, so that it needs no carry in: as lesser - greater - 1. If that is negative,
// its inverse is the magnitude. Otherwise the magnitude is one more, that is value.111...; the ones
// are shifted in where a magnitude has zeros, and rounding makes them the missing one.
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock.

module fp_add #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0
) (
  input  logic                       clk_i,
  input  logic [EXP_W+MAN_W:0]       a_i,
  input  logic [EXP_W+MAN_W:0]       b_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  fp_check #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES)) u_check ();

  //              W-1    W-2 .. MAN_W   MAN_W-1 .. 0
  //           +-------+--------------+--------------+
  //   operand | sign  |   exponent   |   mantissa   |
  //           +-------+--------------+--------------+
  localparam int W = 1 + EXP_W + MAN_W;

  // The operands as they are added. The lesser one, aligned, has a guard and a round bit, and a
  // sticky bit for all below: a subtraction that needs more than a one-bit normalisation had
  // operands at most one place apart. The last bit left is the sign of a difference.
  //
  //             SUM_W  SUM_W-1  SUM_W-2  SUM_W-3 .. 3    2       1       0
  //           +-------+-------+---------+------------+-------+-------+--------+
  //   greater |   0   |   0   |    1    |  mantissa  |   0   |   0   |   0    |
  //   lesser  |   0   |   0   |     significand      | guard | round | sticky |
  //           +-------+-------+----------------------+-------+-------+--------+
  //   sum     | sign  | carry |     significand      | guard | round | sticky |
  //           +-------+-------+----------------------+-------+-------+--------+
  //                           |<----------- ALIGNED_W ------------->|
  //                   |<------------------------ SUM_W ---------------------->|
  localparam int BELOW_TOP_W = MAN_W > 1 ? MAN_W - 1 : 1;  // of the mantissa
  localparam int ALIGNED_W = MAN_W + 3;
  localparam int SUM_W = MAN_W + 5;
  // Bits of a shift. Ones in all but the last shift everything out.
  localparam int SHIFT_W = $clog2(ALIGNED_W + 2);
  localparam int DISTANCE_W = EXP_W > SHIFT_W ? EXP_W : SHIFT_W;
  // Leading zeros of a sum, an odd number of bits: pairs, and the last one.
  //
  //            ZEROS_W-1 .. 3    2 .. 1       0
  //           +--------------+----------+----------+
  //   zeros   |    groups    |  pairs   | one more |
  //           +--------------+----------+----------+
  localparam int ZEROS_W = ($clog2(SUM_W) / 2) * 2 + 1;
  // Exponents minus leading zeros.
  localparam int EXPONENT_W = (EXP_W > ZEROS_W ? EXP_W : ZEROS_W) + 1;

  // Groups of eight bits of a sum. The first that is not zero is shifted to the top, and then its
  // first pair of bits that is not zero.
  localparam int GROUPS = (SUM_W + 7) / 8;
  // Each group's pairs are looked at while the groups are, not after them: faster but larger.
  localparam bit EARLY_PAIRS = STAGES > 0;

  // Registered cuts: bit i is the one behind section i + 1, the last one the output.
  localparam logic [7:0] CUT =
      STAGES == 1 ? 8'b1000_0000 :
      STAGES == 2 ? 8'b1000_1000 :
      STAGES == 3 ? 8'b1001_0100 :
      STAGES == 4 ? 8'b1100_1010 :
      STAGES == 5 ? 8'b1100_1110 :
      STAGES == 6 ? 8'b1101_1110 : 8'b0000_0000;
  // The output register is cleared for a result that becomes zero, and its mantissa for an infinity
  // or NaN, which takes no logic. Without a register the bits are masked before they are rounded.
  localparam bit CLEAR = STAGES > 0;

  // So is the lesser operand if it does not count. Without a register there it is shifted out.
  localparam bit CLEAR_LESSER = CUT[1];

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
    logic               odd;      // the exponents differ by an odd number
    logic [SHIFT_W-1:1] shift;
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
    logic [1:0]           lost;  // ones that left on the right: before the last shift, in it
  } aligned_t;

  typedef struct packed {
    common_t            common;
    logic               invert;  // the magnitude is the inverse of value
    logic [SUM_W-1:0]   value;
  } sum_t;

  typedef struct packed {
    sum_t                added;
    logic                too_large;  // exponent not below all ones
    logic                sticky;     // any of the two lowest bits, once normalised
    logic                low_ones;   // only ones below the group that holds the leading one
    logic [ZEROS_W-1:0]  zeros;      // those in front of that group
    logic [2*GROUPS-1:0] pairs;      // of each group, the number of its leading pairs that are zero
    logic [GROUPS-1:0]   upper;      // its leading one is the upper bit of its pair
  } counted_t;

  typedef struct packed {
    sum_t               added;
    logic               too_large;
    logic               sticky;
    logic               low_ones;
    logic [ZEROS_W-1:0] zeros;
    logic [1:0]         pairs;  // of the group that is on top
    logic               upper;
  } coarse_t;

  typedef struct packed {
    common_t               common;
    logic                  saturate;  // exponent becomes all ones
    logic                  invert;
    logic [SUM_W-1:0]      value;
    logic                  carry;     // the magnitude's leading one is its top bit
    logic                  sticky;
    logic                  low_ones;  // below the leading one, but for the top bits
    logic [EXPONENT_W-1:0] exponent;  // inverse of the result's less one
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
    // Short of one if swapped: the swap itself shifts by one then. So it does what is needed for an
    // odd distance, which is known before the carries.
    distance = {{(DISTANCE_W - EXP_W) {1'b0}}, difference[EXP_W-1:0] ^ {EXP_W{swap}}};

    compare.a = a[MAN_W-1:0];
    compare.b = b[MAN_W-1:0];
    compare.swap = swap;
    compare.discard = discard;
    compare.odd = a[MAN_W] ^ b[MAN_W];
    compare.shift = distance[SHIFT_W-1:1]
                    | {(SHIFT_W - 1) {(discard && !CLEAR_LESSER)
                                           || (distance >> SHIFT_W) != '0}};

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
    .clk_i, .enable_i(1'b1), .data_i(compared_d), .data_o(compared_q)
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
    lesser = in.swap ? (in.odd ? from_a : from_a >> 1) : (in.odd ? from_b >> 1 : from_b);
    swap.common = in.common;
    swap.a = in.a;
    swap.b = in.b;
    swap.swap = in.swap;
    swap.discard = in.discard;
    swap.shift = in.shift;
    swap.lesser = CLEAR_LESSER && in.discard ? '0 : lesser;
  endfunction

  swapped_t swapped_d, swapped_q;

  assign swapped_d = swap(compared_q);

  fp_pipe #(.WIDTH($bits(swapped_t)), .ENABLE(CUT[1])) u_cut_2 (
    .clk_i, .enable_i(1'b1), .data_i(swapped_d), .data_o(swapped_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 3: align by the other places; what leaves on the right is kept as sticky bits, two of
  // them, as that of the last shift is late
  // ---------------------------------------------------------------------------------------------
  function automatic aligned_t align(input swapped_t in);
    logic [ALIGNED_W-1:0] lesser, below;
    logic [SHIFT_W:1] shift;
    logic [1:0] places;
    logic lost, lost_before, discard;
    lesser = in.lesser;
    shift = {1'b0, in.shift};
    lost = 1'b0;
    lost_before = 1'b0;
    // Two bits of the shift at a time, the highest first: a multiplexer of four inputs.
    for (int k = ((SHIFT_W - 2) / 2) * 2 + 1; k > 0; k -= 2) begin
      places = shift[k+:2];
      below = ~({ALIGNED_W{1'b1}} << (1 << k));
      lost_before = lost_before || lost;
      lost = (places != 2'd0 && (lesser & below) != '0)
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
    discard = in.discard && !CLEAR_LESSER;
    align.lost = {lost_before && !discard, lost && !discard};
  endfunction

  aligned_t aligned_d, aligned_q;

  assign aligned_d = align(swapped_q);

  fp_pipe #(.WIDTH($bits(aligned_t)), .ENABLE(CUT[2])) u_cut_3 (
    .clk_i, .enable_i(1'b1), .data_i(aligned_d), .data_o(aligned_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 4: add or subtract
  // ---------------------------------------------------------------------------------------------
  function automatic sum_t add(input aligned_t in);
    logic [SUM_W:0] greater;
    greater = {2'b00, !in.common.special, in.swap ? in.b : in.a, 3'b000};
    add.common = in.common;
    // One more bit of the sum is the sign of a difference, and zero of a sum.
    {add.invert, add.value} = {2'b00, in.lesser, in.lost != '0}
                              + (greater ^ {(SUM_W + 1) {in.common.subtract}});
  endfunction

  sum_t sum_d, sum_q;

  assign sum_d = add(aligned_q);

  fp_pipe #(.WIDTH($bits(sum_t)), .ENABLE(CUT[3])) u_cut_4 (
    .clk_i, .enable_i(1'b1), .data_i(sum_d), .data_o(sum_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 5: count the leading zeros of the magnitude
  // ---------------------------------------------------------------------------------------------
  // Of the four pairs of a group, all but the last decide.
  function automatic logic [1:0] leading_pairs(input logic [5:0] top);
    leading_pairs[1] = top[5:2] == '0;
    leading_pairs[0] = top[5:4] == '0 && (top[3:2] != '0 || top[1:0] == '0);
  endfunction

  // Whether the leading one is the upper bit of its pair.
  function automatic logic leading_upper(input logic [6:0] top);
    leading_upper = top[6] || (!top[5] && (top[4] || (!top[3] && (top[2] || (!top[1] && top[0])))));
  endfunction

  function automatic counted_t count(input sum_t in);
    logic [8*GROUPS-1:0] magnitude, inverse;
    logic ones, low_ones;
    logic [GROUPS-1:0] upper;
    logic [ZEROS_W-1:0] zeros;
    logic [2*GROUPS-1:0] pairs;
    magnitude = '0;
    magnitude[8*GROUPS-1-:SUM_W] = in.value ^ {SUM_W{in.invert}};
    inverse = '0;
    inverse[8*GROUPS-1-:SUM_W] = ~in.value;
    count.added = in;
    zeros = ZEROS_W'(8 * (GROUPS - 1));
    ones = 1'b1;
    low_ones = 1'b1;
    pairs = '0;
    upper = '0;
    for (int g = GROUPS - 1; g >= 0; g--) begin
      if (magnitude[8*(GROUPS-1-g)+:8] != '0) begin
        zeros = ZEROS_W'(8 * g);
        low_ones = ones;
      end
      ones = ones && inverse[8*(GROUPS-1-g)+:8] == '0;
      if (EARLY_PAIRS) begin  // Icarus would call the functions for nothing
        pairs[2*g+:2] = leading_pairs(magnitude[8*(GROUPS-1-g)+2+:6]);
        upper[g] = leading_upper(magnitude[8*(GROUPS-1-g)+1+:7]);
      end
    end
    // The top bit of a sum is its carry.
    count.too_large = !in.common.subtract && in.value[SUM_W-1]
                      && (&in.common.exponent[EXP_W-1:1]) && !in.common.exponent[0];
    count.low_ones = low_ones;
    // They only stay where they are if the top pair is not zero. Otherwise zeros come in, or the
    // ones of a difference without inverse, which ends in ones anyway.
    count.sticky = in.value[1:0] != {2{in.invert}}
                   && (magnitude[8*GROUPS-1-:2] != '0 || (in.common.subtract && !in.invert));
    count.upper = upper;
    count.zeros = zeros;
    count.pairs = pairs;
  endfunction

  counted_t counted_d, counted_q;

  assign counted_d = count(sum_q);

  fp_pipe #(.WIDTH($bits(counted_t)), .ENABLE(CUT[4])) u_cut_5 (
    .clk_i, .enable_i(1'b1), .data_i(counted_d), .data_o(counted_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 6 and 7: normalise, by groups and then by pairs
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

  // By 0 to 3 times so many places: a multiplexer of four inputs.
  function automatic logic [SUM_W-1:0] shift_times(
    input logic [SUM_W-1:0] value, input logic fill, input logic [1:0] times, input int places
  );
    shift_times = times[1] ? (times[0] ? shift_left(value, fill, 3 * places)
                                       : shift_left(value, fill, 2 * places))
                           : (times[0] ? shift_left(value, fill, places) : value);
  endfunction

  function automatic coarse_t shift_group(input counted_t in);
    sum_t added;
    logic [SUM_W-1:0] value;
    logic [ZEROS_W-1:0] zeros;
    added = in.added;
    value = added.value;
    zeros = in.zeros;
    for (int k = ZEROS_W - 2; k >= 3; k -= 2) begin
      value = shift_times(value, added.common.subtract, zeros[k+:2], 1 << k);
    end
    added.value = value;
    shift_group.added = added;
    shift_group.too_large = in.too_large;
    shift_group.sticky = in.sticky;
    shift_group.low_ones = in.low_ones;
    shift_group.zeros = in.zeros;
    shift_group.pairs = 2'(in.pairs >> (in.zeros >> 2));
    shift_group.upper = 1'(in.upper >> (in.zeros >> 3));
  endfunction

  function automatic normal_t shift_pair(input coarse_t in);
    sum_t added;
    logic [SUM_W-1:0] value;
    logic [1:0] pairs;
    logic [EXP_W-1:0] exponent;
    logic carry;
    added = in.added;
    value = added.value;
    pairs = EARLY_PAIRS ? in.pairs : leading_pairs(value[SUM_W-1-:6] ^ {6{added.invert}});
    exponent = added.common.exponent;
    shift_pair.common = added.common;
    shift_pair.saturate = added.common.special || (CLEAR && in.too_large);
    shift_pair.invert = added.invert;
    value = shift_times(value, added.common.subtract, pairs, 2);
    shift_pair.value = value;
    shift_pair.low_ones = in.low_ones;
    shift_pair.sticky = in.sticky;
    carry = EARLY_PAIRS ? in.upper : value[SUM_W-1] ^ added.invert;
    shift_pair.carry = carry;
    // All leading zeros less the exponent less one: rounding adds that one again.
    shift_pair.exponent =
        {{(EXPONENT_W - ZEROS_W) {1'b0}}, in.zeros | ZEROS_W'({pairs, !carry})}
        + {{(EXPONENT_W - EXP_W) {1'b0}}, ~exponent};
  endfunction

  coarse_t coarse_d, coarse_q;
  normal_t normal_d, normal_q;

  assign coarse_d = shift_group(counted_q);

  fp_pipe #(.WIDTH($bits(coarse_t)), .ENABLE(CUT[5])) u_cut_6 (
    .clk_i, .enable_i(1'b1), .data_i(coarse_d), .data_o(coarse_q)
  );

  assign normal_d = shift_pair(coarse_q);

  fp_pipe #(.WIDTH($bits(normal_t)), .ENABLE(CUT[6])) u_cut_7 (
    .clk_i, .enable_i(1'b1), .data_i(normal_d), .data_o(normal_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 8: normalise by the last place and round. A sum below the smallest normal is exact,
  // both operands being multiples of the smallest subnormal
  //
  //             SUM_W-1  SUM_W-2                         4       3       2     1 .. 0
  //            +-------+---------------------------------+-------+----------------+
  //   carry    |   1   |            mantissa             | guard |     sticky     |
  //            +-------+-------+-------------------------+-------+-------+--------+
  //   no carry |   0   |   1   |            mantissa             | guard | sticky |
  //            +-------+-------+---------------------------------+-------+--------+
  // ---------------------------------------------------------------------------------------------
  function automatic logic [W+fp_pkg::FLAGS_W-1:0] round(input normal_t in);
    logic [SUM_W-1:0] magnitude;
    logic [MAN_W-1:0] mantissa;
    logic [EXP_W+MAN_W-1:0] rounded;
    logic carry, guard, sticky, nonzero, negated, ones;
    logic sign, nan, finite, tiny, flush, saturate, keep, keep_mantissa, overflow, inexact, unused;
    magnitude = in.value ^ {SUM_W{in.invert}};
    carry = in.carry;
    nonzero = carry || magnitude[SUM_W-2];
    negated = in.common.subtract && !in.invert;
    mantissa = carry ? magnitude[SUM_W-2:4] : magnitude[SUM_W-3:3];
    guard = carry ? magnitude[3] : magnitude[2];
    sticky = in.sticky || (carry && magnitude[2]);

    // Exponent <= 0, unless it is 0, and 11..1 and the missing one make it 1.
    ones = negated && in.low_ones && ((~in.value << 1) >> (SUM_W - 7)) == '0;
    tiny = (in.exponent >> EXP_W) != '0 && !(ones && in.exponent == EXPONENT_W'(1) << EXP_W);

    nan = in.common.special && (nonzero || in.common.no_sum);
    saturate = in.saturate || (!CLEAR && in.exponent == EXPONENT_W'(1));
    finite = !in.common.special && !in.common.zero && nonzero;
    flush = !saturate && (in.common.zero || !nonzero || tiny);
    sign = (in.common.sign ^ negated) && !nan
           && (in.common.special || finite || !in.common.subtract);

    keep = !saturate && (CLEAR || !flush);
    keep_mantissa = CLEAR || keep;
    {rounded, unused} =
        {~in.exponent[EXP_W-1:0] & {EXP_W{keep}} | {EXP_W{saturate}},
         mantissa & {keep, {(MAN_W - 1) {keep_mantissa}}} | {nan, {(MAN_W - 1) {1'b0}}},
         guard && keep}
        + {{(EXP_W - 1) {1'b0}}, keep, {MAN_W{1'b0}}, sticky || mantissa[0]};
    // Saturated, or rounded up from the largest finite number; the sum's carry would be late.
    overflow = finite && !tiny
               && (saturate || (in.exponent[EXP_W-1:0] == EXP_W'(2) && (&mantissa) && guard));
    if (CLEAR && flush) begin
      rounded = '0;
    end
    if (CLEAR && (flush || saturate)) begin
      rounded[BELOW_TOP_W-1:0] = '0;
    end

    inexact = finite && (overflow || tiny || ((guard || sticky) && !negated));
    // In the order of fp_pkg, highest bit first; one concatenation, as Icarus is slow at parts.
    round = {sign, rounded, in.common.invalid, 1'b0, overflow, finite && tiny, inexact};
  endfunction

  logic [W+fp_pkg::FLAGS_W-1:0] result_d;

  assign result_d = round(normal_q);

  fp_pipe #(.WIDTH(W + fp_pkg::FLAGS_W), .ENABLE(CUT[7])) u_output (
    .clk_i, .enable_i(1'b1), .data_i(result_d), .data_o({y_o, flags_o})
  );

endmodule
