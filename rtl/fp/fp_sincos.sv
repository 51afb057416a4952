// Float sine and cosine of an angle in rad, both at once. Rules and flags: fp_pkg.sv; what is
// computed, and how well: pymodel/arith/sincos.py. An angle of 2^17 or more in magnitude gives two
// NaNs and the flag invalid, as infinity does. flags_o is that of both results.
//
// DSP_W is the wide unsigned factor of the device's multipliers (fp_pkg), at least 18. Wider
// products are left as two rows, which the next section adds.
//
// LOGIC makes all products of adders and no multipliers (fp_product). Of more than SECTIONS STAGES
// LOGIC_STAGES (11) then lie inside the products.
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock.

module fp_sincos
  import fp_sincos_pkg::*;
#(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0,
  parameter bit LOGIC = 1'b0,
  parameter int DSP_W = fp_pkg::DSP_W
) (
  input  logic                       clk_i,
  input  logic [EXP_W+MAN_W:0]       a_i,
  output logic [EXP_W+MAN_W:0]       sin_o,
  output logic [EXP_W+MAN_W:0]       cos_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int SECTIONS = fp_pkg::MAX_SINCOS_STAGES;
  localparam int BINARY32_EXP_W = 8;

  // Registers inside the products
  localparam int LOGIC_STAGES = fp_pkg::LOGIC_STAGES;
  localparam bit DEEP = LOGIC && STAGES > SECTIONS;
  localparam int TURNS_CUTS = DEEP ? 2 : 0;
  localparam int LINEAR_CUTS = DEEP ? 4 : 0;
  localparam int SINE_CUTS = DEEP ? LOGIC_STAGES - 2 - 4 : 0;
  localparam int BETWEEN = DEEP ? STAGES - LOGIC_STAGES : STAGES;  // between sections

  fp_check #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(STAGES),
    .MAX_EXP_W(BINARY32_EXP_W),
    .MAX_MAN_W(SIGNIFICAND_W - 1),
    .MAX_STAGES(LOGIC ? SECTIONS + LOGIC_STAGES : SECTIONS)
  ) u_check ();

  localparam int MIN_DSP_W = 18;
  if (DSP_W < MIN_DSP_W) begin : gen_check_dsp_w
    initial $fatal(1, "%m: DSP_W is %0d, must be at least %0d", DSP_W, MIN_DSP_W);
  end

  localparam int W = 1 + EXP_W + MAN_W;
  // Zeros below the mantissa; none of one that u_check refuses
  localparam int BELOW_W = MAN_W < SIGNIFICAND_W ? SIGNIFICAND_W - 1 - MAN_W : 0;

  // Exponents in two's complement: biased ones of results down to 2^-32, and shifts to the right.
  localparam int SHIFT_W = 5;  // of so many places
  localparam int EXPONENT_W = (EXP_W > SHIFT_W ? EXP_W : SHIFT_W) + 2;
  localparam logic [EXPONENT_W-1:0] BIAS = (1 << (EXP_W - 1)) - 1;
  localparam logic [EXPONENT_W-1:0] LARGEST = BIAS + MAX_EXPONENT[EXPONENT_W-1:0];

  // The reduced argument has fewer leading zeros than 2^NORM_LEVELS.
  localparam int NORM_LEVELS = 5;
  localparam int FIRST_FINE = 3;
  localparam int FAR = 1 << (NORM_LEVELS - 1);
  localparam int NEAR = 1 << FIRST_FINE;

  // Registered cuts: bit i is behind section i + 1, the last one the output. Sections with a
  // multiplier, a shifter or a long carry take about three times as long as the shortest one.
  localparam logic [SECTIONS-1:0] CUT =
      BETWEEN == 1  ? 16'b1000000000000000 :
      BETWEEN == 2  ? 16'b1000000001000000 :
      BETWEEN == 3  ? 16'b1000001000010000 :
      BETWEEN == 4  ? 16'b1000010001010000 :
      BETWEEN == 5  ? 16'b1000100100101000 :
      BETWEEN == 6  ? 16'b1001001001010100 :
      BETWEEN == 7  ? 16'b1001010101010100 :
      BETWEEN == 8  ? 16'b1001010101011010 :
      BETWEEN == 9  ? 16'b1001010101111010 :
      BETWEEN == 10 ? 16'b1010110101111010 :
      BETWEEN == 11 ? 16'b1010111011111010 :
      BETWEEN == 12 ? 16'b1010111101111110 :
      BETWEEN == 13 ? 16'b1110111101111110 :
      BETWEEN == 14 ? 16'b1110111111111110 :
      BETWEEN == 15 ? 16'b1110111111111111 :
      BETWEEN == 16 ? 16'b1111111111111111 : 16'b0000000000000000;

  // r is the argument less `count` quarter turns; its sine and cosine become the argument's.
  typedef struct packed {
    logic                  swap;
    logic                  sin_negative;
    logic                  cos_negative;
    logic                  nan;
    logic                  invalid;
    logic                  zero;
    logic [EXPONENT_W-1:0] exponent;  // biased, of the argument and then of r
  } common_t;

  // ---------------------------------------------------------------------------------------------
  // Sections 1 and 2: classify; the argument times 2/pi
  // ---------------------------------------------------------------------------------------------
  localparam int PRODUCT_W = SIGNIFICAND_W + INVERSE_W;
  // The largest argument's product, all but one bit of its fraction cut off.
  localparam int TURNS_W = COUNT_W + 1;
  // Bits of the rows: below them there is only one.
  localparam int ROW_DROP = DSP_W < PRODUCT_W - TURNS_W ? DSP_W : PRODUCT_W - TURNS_W;
  localparam int ROW_W = PRODUCT_W - ROW_DROP;

  typedef struct packed {
    common_t                  common;
    logic [SIGNIFICAND_W-1:0] significand;
    logic [ROW_W-1:0]         low;
    logic [ROW_W-1:0]         high;
    logic [EXPONENT_W-1:0]    right;  // places that both are to be shifted
  } factor_t;

  // Section 2 shifts by multiples of 2^FINE_SHIFT_W, section 3 by the rest. Without a register in
  // front it leaves all to section 3.
  localparam int FINE_SHIFT_W = 3;
  localparam bit SHIFT_EARLY = CUT[0];
  localparam int SHIFTED_W = MAX_EXPONENT + 1 + RHO_F;

  typedef struct packed {
    common_t                  common;
    logic [SIGNIFICAND_W-1:0] significand;
    logic [SHIFTED_W-1:0]     argument;
    logic [TURNS_W-1:0]       turns;
    logic [EXPONENT_W-1:0]    right;  // places that both are still to be shifted
  } scaled_t;

  function automatic factor_t classify(
    input logic [W-1:0] a, input logic [ROW_W-1:0] low, input logic [ROW_W-1:0] high
  );
    logic special, fraction, zero, out_of_range;
    logic [SIGNIFICAND_W-1:0] significand;
    logic [EXPONENT_W-1:0] exponent, right;
    special = &a[W-2:MAN_W];
    fraction = a[MAN_W-1:0] != '0;
    zero = a[W-2:MAN_W] == '0;
    exponent = {{(EXPONENT_W - EXP_W) {1'b0}}, a[W-2:MAN_W]};
    right = LARGEST - exponent;
    out_of_range = special || right[EXPONENT_W-1];
    significand = '0;
    if (!zero) begin
      significand[SIGNIFICAND_W-1:SIGNIFICAND_W-1-MAN_W] = {1'b1, a[MAN_W-1:0]};
    end
    classify.common.swap = 1'b0;
    classify.common.sin_negative = a[W-1];
    classify.common.cos_negative = 1'b0;
    classify.common.nan = out_of_range;
    classify.common.invalid = out_of_range && !(special && fraction && a[MAN_W-1]);
    classify.common.zero = zero;
    classify.common.exponent = exponent;
    classify.significand = significand;
    classify.low = low;
    classify.high = high;
    classify.right = right;
  endfunction

  function automatic scaled_t scale(input factor_t in);
    logic [ROW_W-1:0] product;
    logic [TURNS_W-1:0] turns;
    logic [SHIFTED_W-1:0] argument;
    logic [EXPONENT_W-1:0] coarse;
    product = in.low + in.high;
    turns = product[ROW_W-1-:TURNS_W];
    argument = {in.significand, {(SHIFTED_W - SIGNIFICAND_W) {1'b0}}};
    coarse = SHIFT_EARLY ? {in.right[EXPONENT_W-1:FINE_SHIFT_W], {FINE_SHIFT_W{1'b0}}} : '0;
    scale.common = in.common;
    scale.significand = in.significand;
    scale.argument = argument >> coarse;
    scale.turns = turns >> coarse;
    scale.right = in.right ^ coarse;
  endfunction

  // verilator lint_off UNUSEDSIGNAL  // their low bits do not matter
  logic [PRODUCT_W-1:0] product_low, product_high;
  // verilator lint_on UNUSEDSIGNAL
  logic [INVERSE_W-1:0] inverse;  // Icarus takes a package's constant at a port for one bit
  factor_t factor_d, factor_q;
  scaled_t scaled_d, scaled_q;
  assign inverse = INVERSE;

  logic [W-1:0] a;  // with the product
  logic [SIGNIFICAND_W-1:0] multiplicand;

  // The shift to the right removes all of a zero's turns: the product need not wait for it.
  assign multiplicand = {1'b1, a_i[MAN_W-1:0], {BELOW_W{1'b0}}};

  if (LOGIC) begin : gen_turns_logic
    // 2/pi = 5 * 2^FIVE_AT + 3 * 2^THREE_AT - 3 * 2^2 - 1
    localparam int FIVE_AT = 14;
    localparam int THREE_AT = 9;
    localparam int TWO_BITS = 2;
    if (32'(INVERSE) != (5 << FIVE_AT) + (3 << THREE_AT) - 13) begin : gen_check_inverse
      initial $fatal(1, "%m: INVERSE %0d is not what its product adds up", INVERSE);
    end

    typedef struct packed {
      logic [W-1:0]         a;
      logic [PRODUCT_W-1:0] once;
      logic [PRODUCT_W-1:0] three;
      logic [PRODUCT_W-1:0] five;
    } multiples_of_t;

    typedef struct packed {
      logic [W-1:0]         a;
      logic [PRODUCT_W-1:0] more;
      logic [PRODUCT_W-1:0] less;
    } parts_t;

    multiples_of_t multiples_of_d, multiples_of_q;
    parts_t parts_d, parts_q;

    assign multiples_of_d.a = a_i;
    assign multiples_of_d.once = PRODUCT_W'(multiplicand);
    assign multiples_of_d.three = multiples_of_d.once + (multiples_of_d.once << 1);
    assign multiples_of_d.five = multiples_of_d.once + (multiples_of_d.once << 2);

    fp_pipe #(.WIDTH($bits(multiples_of_t)), .ENABLE(TURNS_CUTS > 0)) u_multiples (
      .clk_i, .enable_i(1'b1), .data_i(multiples_of_d), .data_o(multiples_of_q)
    );

    assign parts_d.a = multiples_of_q.a;
    assign parts_d.more = (multiples_of_q.five << FIVE_AT) + (multiples_of_q.three << THREE_AT);
    assign parts_d.less = (multiples_of_q.three << TWO_BITS) + multiples_of_q.once;

    fp_pipe #(.WIDTH($bits(parts_t)), .ENABLE(TURNS_CUTS > 1)) u_parts (
      .clk_i, .enable_i(1'b1), .data_i(parts_d), .data_o(parts_q)
    );

    assign a = parts_q.a;
    assign product_low = parts_q.more - parts_q.less;
    assign product_high = '0;

    logic unused;
    assign unused = &{1'b0, inverse};
  end else begin : gen_turns
    assign a = a_i;

    fp_rows #(
      .A_W(SIGNIFICAND_W),
      .B_W(INVERSE_W),
      .DSP_W(DSP_W)
    ) u_turns (
      .a_i(multiplicand), .b_i(inverse), .low_o(product_low), .high_o(product_high)
    );
  end

  assign factor_d =
      classify(a, product_low[PRODUCT_W-1:ROW_DROP], product_high[PRODUCT_W-1:ROW_DROP]);

  fp_pipe #(.WIDTH($bits(factor_t)), .ENABLE(CUT[0])) u_cut_1 (
    .clk_i, .enable_i(1'b1), .data_i(factor_d), .data_o(factor_q)
  );

  assign scaled_d = scale(factor_q);

  fp_pipe #(.WIDTH($bits(scaled_t)), .ENABLE(CUT[1])) u_cut_2 (
    .clk_i, .enable_i(1'b1), .data_i(scaled_d), .data_o(scaled_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 3: in fixed point, the argument modulo 2 and its quarter turns to the nearest integer
  // ---------------------------------------------------------------------------------------------
  //
  //                 RHO_F  RHO_F-1 .. 0
  //              +-------+----------------------+
  //   argument   | units |       fraction       |  modulo 2
  //              +-------+----------------------+
  //   turns      |     count (COUNT_W)   | half |
  //              +-----------------------+------+
  typedef struct packed {
    common_t                  common;
    logic [SIGNIFICAND_W-1:0] significand;
    logic [COUNT_W-1:0]       count;
    logic [RHO_F:0]           argument;
  } fixed_t;

  function automatic fixed_t fix(input scaled_t in);
    logic [SHIFTED_W-1:0] shifted;
    logic [TURNS_W-1:0] turns;
    shifted = in.argument >> in.right;
    turns = (in.turns >> in.right) + {{COUNT_W{1'b0}}, 1'b1};
    fix.common = in.common;
    fix.significand = in.significand;
    fix.count = turns[TURNS_W-1:1];
    fix.argument = shifted[RHO_F:0];
  endfunction

  fixed_t fixed_d, fixed_q;

  assign fixed_d = fix(scaled_q);

  fp_pipe #(.WIDTH($bits(fixed_t)), .ENABLE(CUT[2])) u_cut_3 (
    .clk_i, .enable_i(1'b1), .data_i(fixed_d), .data_o(fixed_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 4: look the quarter turns up; what they do to the signs
  // ---------------------------------------------------------------------------------------------
  typedef struct packed {
    common_t                  common;
    logic [SIGNIFICAND_W-1:0] significand;
    logic                     reduced;  // the count is not zero
  } kept_t;

  typedef struct packed {
    kept_t            kept;
    logic [RHO_F:0]   argument;
    logic [ANGLE_F:0] low;
    logic [ANGLE_F:0] middle;
    logic [ANGLE_F:0] high;
  } multiples_t;

  function automatic common_t rotate(input common_t in, input logic [1:0] quarters);
    rotate = in;
    rotate.swap = quarters[0];
    rotate.sin_negative = quarters[1] ^ (quarters[0] || in.sin_negative);
    rotate.cos_negative = quarters[1] ^ (quarters[0] && in.sin_negative);
  endfunction

  function automatic multiples_t look_up(input fixed_t in);
    look_up.kept.common = rotate(in.common, in.count[1:0]);
    look_up.kept.significand = in.significand;
    look_up.kept.reduced = in.count != '0;
    look_up.argument = in.argument;
    look_up.low = multiple_low(in.count[DIGIT_W-1:0]);
    look_up.middle = multiple_middle(in.count[2*DIGIT_W-1:DIGIT_W]);
    look_up.high = multiple_high(in.count[COUNT_W-1:2*DIGIT_W]);
  endfunction

  multiples_t multiples_d, multiples_q;

  assign multiples_d = look_up(fixed_q);

  fp_pipe #(.WIDTH($bits(multiples_t)), .ENABLE(CUT[3])) u_cut_4 (
    .clk_i, .enable_i(1'b1), .data_i(multiples_d), .data_o(multiples_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 5: reduce, which adds four numbers
  // ---------------------------------------------------------------------------------------------
  typedef struct packed {
    kept_t            kept;
    logic [ANGLE_F:0] value;
  } angle_t;

  function automatic angle_t add_up(input multiples_t in);
    add_up.kept = in.kept;
    add_up.value = (in.low + in.middle)
                   + (in.high + {in.argument, {(ANGLE_F - RHO_F) {1'b0}}});
  endfunction

  angle_t angle_d, angle_q;

  assign angle_d = add_up(multiples_q);

  fp_pipe #(.WIDTH($bits(angle_t)), .ENABLE(CUT[4])) u_cut_5 (
    .clk_i, .enable_i(1'b1), .data_i(angle_d), .data_o(angle_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 6: magnitude, normalised by the large steps; look the segment up. A block of memory
  // is slow to read: its register is cut 6, and cut 7 stands before the multiplier
  //
  //             ANGLE_F  ANGLE_F-1 ..                           0
  //            +-------+-----------------------------------------+
  //   angle    | sign  |                 fraction                |
  //            +-------+-------------+-----------------+---------+
  //   rho      |       |   segment   |      offset     |
  //            +-------+-------------+--------+--------+
  //   offset   |                     | coarse |  fine  |
  //            +---------------------+--------+--------+
  //                    |<- INDEX_W ->|<-- OFFSET_W --->|
  // ---------------------------------------------------------------------------------------------
  typedef struct packed {
    logic [COS_VALUE_W-1:0]      cos_value;
    logic [COS_SLOPE_W-1:0]      cos_slope;
    logic [COS_QUADRATIC_W-1:0]  cos_quadratic;
    logic [SINC_VALUE_W-1:0]     sinc_value;
    logic [SINC_SLOPE_W-1:0]     sinc_slope;
    logic [SINC_QUADRATIC_W-1:0] sinc_quadratic;
  } segment_t;

  typedef struct packed {
    kept_t                  kept;
    logic [RHO_F-1:0]       rho;
    logic [ANGLE_F-1:0]     normal;
    logic [NORM_LEVELS-1:0] leading_zeros;
  } magnitude_t;

  function automatic magnitude_t normalise_fine(input magnitude_t in);
    logic [ANGLE_F-1:0] normal;
    logic [NORM_LEVELS-1:0] leading_zeros;
    normal = in.normal;
    leading_zeros = in.leading_zeros;
    for (int k = FIRST_FINE - 1; k >= 0; k--) begin
      if ((normal >> (ANGLE_F - (1 << k))) == '0) begin
        normal = normal << (1 << k);
        leading_zeros[k] = 1'b1;
      end
    end
    normalise_fine.kept = in.kept;
    normalise_fine.rho = in.rho;
    normalise_fine.normal = normal;
    normalise_fine.leading_zeros = leading_zeros;
  endfunction

  function automatic magnitude_t take_magnitude(input angle_t in);
    logic negative, shift_far, shift_near;
    logic [ANGLE_F-1:0] magnitude;
    magnitude_t whole;
    negative = in.value[ANGLE_F];
    // The complement is the negated number less one unit, which does not matter.
    magnitude = in.value[ANGLE_F-1:0] ^ {ANGLE_F{negative}};
    whole.kept = in.kept;
    whole.kept.common.sin_negative = in.kept.common.sin_negative ^ negative;
    whole.rho = magnitude[ANGLE_F-1-:RHO_F];
    whole.normal = magnitude;
    whole.leading_zeros = '0;
    // Both large steps at once: whether the lower one is taken is found for either outcome of the
    // upper one.
    shift_far = (magnitude >> (ANGLE_F - FAR)) == '0;
    shift_near = shift_far ? (magnitude[ANGLE_F-FAR-1:0] >> (ANGLE_F - FAR - NEAR)) == '0
               : (magnitude >> (ANGLE_F - NEAR)) == '0;
    take_magnitude = whole;
    take_magnitude.normal = shift_far ? (shift_near ? magnitude << (FAR + NEAR) : magnitude << FAR)
                                : (shift_near ? magnitude << NEAR : magnitude);
    take_magnitude.leading_zeros = {shift_far, shift_near, {(NORM_LEVELS - 2) {1'b0}}};
  endfunction

  magnitude_t magnitude_d, magnitude_q;
  segment_t segment_d, segment_q;

  assign magnitude_d = take_magnitude(angle_q);
  assign segment_d = segment(magnitude_d.rho[RHO_F-1:OFFSET_W]);

  fp_pipe #(.WIDTH($bits(magnitude_t)), .ENABLE(CUT[5])) u_cut_6 (
    .clk_i, .enable_i(1'b1), .data_i(magnitude_d), .data_o(magnitude_q)
  );

  fp_pipe #(.WIDTH($bits(segment_t)), .ENABLE(CUT[5])) u_segment (
    .clk_i, .enable_i(1'b1), .data_i(segment_d), .data_o(segment_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 7: normalise by the small steps, or take the argument as it is; prepare section 8
  // ---------------------------------------------------------------------------------------------
  typedef struct packed {
    common_t             common;
    logic [NORMAL_W-1:0] normal;
  } reduced_t;

  typedef struct packed {
    reduced_t            r;
    segment_t            segment;
    logic [OFFSET_W-1:0] offset;
    logic [COARSE_W+1:0] triple;  // of the offset's coarse part
  } place_t;

  function automatic reduced_t reduce(input magnitude_t in);
    magnitude_t fine;
    fine = normalise_fine(in);
    reduce.common = in.kept.common;
    if (in.kept.reduced) begin
      reduce.common.exponent = BIAS - {{(EXPONENT_W - 1) {1'b0}}, 1'b1}
                               - {{(EXPONENT_W - NORM_LEVELS) {1'b0}}, fine.leading_zeros};
      reduce.normal = fine.normal[ANGLE_F-1:ANGLE_F-NORMAL_W];
    end else begin
      reduce.normal = {in.kept.significand, {(NORMAL_W - SIGNIFICAND_W) {1'b0}}};
    end
  endfunction

  function automatic logic [COARSE_W+1:0] three_times(input logic [COARSE_W-1:0] coarse);
    three_times = {2'b00, coarse} + {1'b0, coarse, 1'b0};
  endfunction

  place_t place_d, place_q;

  assign place_d.r = reduce(magnitude_q);
  assign place_d.segment = segment_q;
  assign place_d.offset = magnitude_q.rho[OFFSET_W-1:0];
  assign place_d.triple = three_times(magnitude_q.rho[OFFSET_W-1:OFFSET_W-COARSE_W]);

  fp_pipe #(.WIDTH($bits(place_t)), .ENABLE(CUT[6])) u_cut_7 (
    .clk_i, .enable_i(1'b1), .data_i(place_d), .data_o(place_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 8: both quadratic terms, in halves. They are too narrow for DSP blocks: two bits of a
  // coefficient choose a multiple of the coarse offset
  // ---------------------------------------------------------------------------------------------
  localparam int NIBBLE_W = 4;  // a coefficient has at most two
  localparam int HALF_W = NIBBLE_W + COARSE_W;

  // Without the lower halves' last bits: what is added is above them, and they are cut off.
  typedef struct packed {
    reduced_t            r;
    segment_t            segment;
    logic [OFFSET_W-1:0] offset;
    logic [HALF_W-1:0]   cos_upper;
    logic [COARSE_W-1:0] cos_lower;
    logic [HALF_W-1:0]   sinc_upper;
    logic [COARSE_W-1:0] sinc_lower;
  } terms_t;

  function automatic logic [COARSE_W+1:0] multiple(
    input logic [1:0] digit, input logic [COARSE_W-1:0] coarse, input logic [COARSE_W+1:0] triple
  );
    if (digit[1]) begin
      multiple = digit[0] ? triple : {1'b0, coarse, 1'b0};
    end else begin
      multiple = digit[0] ? {2'b00, coarse} : '0;
    end
  endfunction

  function automatic logic [HALF_W-1:0] times(
    input logic [NIBBLE_W-1:0] nibble, input logic [COARSE_W-1:0] coarse,
    input logic [COARSE_W+1:0] triple
  );
    times = {2'b00, multiple(nibble[1:0], coarse, triple)}
            + {multiple(nibble[3:2], coarse, triple), 2'b00};
  endfunction

  function automatic terms_t quadratics(input place_t in);
    logic [COARSE_W-1:0] coarse;
    logic [2*NIBBLE_W-1:0] cos, sinc;
    logic [HALF_W-1:0] cos_lower, sinc_lower;
    coarse = in.offset[OFFSET_W-1:OFFSET_W-COARSE_W];
    cos = in.segment.cos_quadratic;
    sinc = {{(2 * NIBBLE_W - SINC_QUADRATIC_W) {1'b0}}, in.segment.sinc_quadratic};
    cos_lower = times(cos[NIBBLE_W-1:0], coarse, in.triple);
    sinc_lower = times(sinc[NIBBLE_W-1:0], coarse, in.triple);
    quadratics.r = in.r;
    quadratics.segment = in.segment;
    quadratics.offset = in.offset;
    quadratics.cos_upper = times(cos[2*NIBBLE_W-1:NIBBLE_W], coarse, in.triple);
    quadratics.cos_lower = cos_lower[HALF_W-1:NIBBLE_W];
    quadratics.sinc_upper = times(sinc[2*NIBBLE_W-1:NIBBLE_W], coarse, in.triple);
    quadratics.sinc_lower = sinc_lower[HALF_W-1:NIBBLE_W];
  endfunction

  terms_t terms_d, terms_q;

  assign terms_d = quadratics(place_q);

  fp_pipe #(.WIDTH($bits(terms_t)), .ENABLE(CUT[7])) u_cut_8 (
    .clk_i, .enable_i(1'b1), .data_i(terms_d), .data_o(terms_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 9: slopes, of chords from the middle of the segment
  // ---------------------------------------------------------------------------------------------
  // Bits of a term to cut off, less those of its lower half that are cut off already.
  localparam int TERM_DROP = QUADRATIC_F + INDEX_W + COARSE_W - SLOPE_F - NIBBLE_W;

  typedef struct packed {
    reduced_t                r;
    logic [COS_VALUE_W-1:0]  cos_value;
    logic [SINC_VALUE_W-1:0] sinc_value;
    logic [SLOPE_F-1:0]      cos_slope;
    logic [SLOPE_F-1:0]      sinc_slope;
    logic [OFFSET_W-1:0]     offset;
  } slopes_t;

  // One sum, of which Yosys compresses the three numbers before it adds.
  function automatic logic [SLOPE_F-1:0] add_term(
    input logic [SLOPE_F-1:0] slope, input logic [HALF_W-1:0] upper,
    input logic [COARSE_W-1:0] lower
  );
    logic [SLOPE_F+TERM_DROP-1:0] sum;
    sum = {slope, {TERM_DROP{1'b0}}} + {{(SLOPE_F + TERM_DROP - HALF_W) {1'b0}}, upper}
          + {{(SLOPE_F + TERM_DROP - COARSE_W) {1'b0}}, lower};
    add_term = sum[SLOPE_F+TERM_DROP-1:TERM_DROP];
  endfunction

  function automatic slopes_t slopes(input terms_t in);
    slopes.r = in.r;
    slopes.cos_value = in.segment.cos_value;
    slopes.sinc_value = in.segment.sinc_value;
    slopes.cos_slope = add_term({{(SLOPE_F - COS_SLOPE_W) {1'b0}}, in.segment.cos_slope},
                                in.cos_upper, in.cos_lower);
    slopes.sinc_slope = add_term({{(SLOPE_F - SINC_SLOPE_W) {1'b0}}, in.segment.sinc_slope},
                                 in.sinc_upper, in.sinc_lower);
    // The offset counts from the middle now.
    slopes.offset = {!in.offset[OFFSET_W-1], in.offset[OFFSET_W-2:0]};
  endfunction

  slopes_t slopes_d, slopes_q;

  assign slopes_d = slopes(terms_q);

  fp_pipe #(.WIDTH($bits(slopes_t)), .ENABLE(CUT[8])) u_cut_9 (
    .clk_i, .enable_i(1'b1), .data_i(slopes_d), .data_o(slopes_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 10: slopes times offset; the bits that are cut off are of one row only
  // ---------------------------------------------------------------------------------------------
  localparam int LINEAR_DROP = SLOPE_F + RHO_F - VALUE_F;
  localparam int LINEAR_W = SLOPE_F + OFFSET_W - LINEAR_DROP;

  typedef struct packed {
    reduced_t                r;
    logic [COS_VALUE_W-1:0]  cos_value;
    logic [SINC_VALUE_W-1:0] sinc_value;
    logic [LINEAR_W-1:0]     cos_low;
    logic [LINEAR_W-1:0]     cos_high;
    logic [LINEAR_W-1:0]     sinc_low;
    logic [LINEAR_W-1:0]     sinc_high;
  } linear_t;

  // verilator lint_off UNUSEDSIGNAL  // their low bits are cut off
  logic [SLOPE_F+OFFSET_W-1:0] cos_low, cos_high, sinc_low, sinc_high;
  // verilator lint_on UNUSEDSIGNAL
  linear_t linear_d, linear_q;

  // What goes with the products
  typedef struct packed {
    reduced_t                r;
    logic [COS_VALUE_W-1:0]  cos_value;
    logic [SINC_VALUE_W-1:0] sinc_value;
  } middle_t;

  middle_t middle, of_linear;

  assign middle = {slopes_q.r, slopes_q.cos_value, slopes_q.sinc_value};

  if (LOGIC) begin : gen_linear_logic
    fp_product #(
      .MULTIPLIER_W(SLOPE_F),
      .MULTIPLICAND_W(OFFSET_W),
      .CUTS(LINEAR_CUTS)
    ) u_cos_linear (
      .clk_i,
      .multiplier_i(slopes_q.cos_slope),
      .multiplicand_i(slopes_q.offset),
      .low_o(cos_low),
      .high_o(cos_high)
    );

    fp_product #(
      .MULTIPLIER_W(SLOPE_F),
      .MULTIPLICAND_W(OFFSET_W),
      .CUTS(LINEAR_CUTS)
    ) u_sinc_linear (
      .clk_i,
      .multiplier_i(slopes_q.sinc_slope),
      .multiplicand_i(slopes_q.offset),
      .low_o(sinc_low),
      .high_o(sinc_high)
    );

    step_delay #(.WIDTH($bits(middle_t)), .CYCLES(LINEAR_CUTS)) u_middle (
      .clk_i, .data_i(middle), .data_o(of_linear)
    );
  end else begin : gen_linear
    fp_rows #(
      .A_W(SLOPE_F),
      .B_W(OFFSET_W),
      .SIGNED(1'b1),
      .DSP_W(DSP_W)
    ) u_cos_linear (
      .a_i(slopes_q.cos_slope), .b_i(slopes_q.offset), .low_o(cos_low), .high_o(cos_high)
    );

    fp_rows #(
      .A_W(SLOPE_F),
      .B_W(OFFSET_W),
      .SIGNED(1'b1),
      .DSP_W(DSP_W)
    ) u_sinc_linear (
      .a_i(slopes_q.sinc_slope), .b_i(slopes_q.offset), .low_o(sinc_low), .high_o(sinc_high)
    );

    assign of_linear = middle;
  end

  assign linear_d.r = of_linear.r;
  assign linear_d.cos_value = of_linear.cos_value;
  assign linear_d.sinc_value = of_linear.sinc_value;
  assign linear_d.cos_low = cos_low[SLOPE_F+OFFSET_W-1:LINEAR_DROP];
  assign linear_d.cos_high = cos_high[SLOPE_F+OFFSET_W-1:LINEAR_DROP];
  assign linear_d.sinc_low = sinc_low[SLOPE_F+OFFSET_W-1:LINEAR_DROP];
  assign linear_d.sinc_high = sinc_high[SLOPE_F+OFFSET_W-1:LINEAR_DROP];

  fp_pipe #(.WIDTH($bits(linear_t)), .ENABLE(CUT[9])) u_cut_10 (
    .clk_i, .enable_i(1'b1), .data_i(linear_d), .data_o(linear_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 11: cosine, and the factor of the sine
  // ---------------------------------------------------------------------------------------------
  localparam int COS_W = VALUE_F + 1;
  localparam int FACTOR_DROP = VALUE_F - FACTOR_F;
  localparam int FACTOR_W = SINC_VALUE_W - FACTOR_DROP;

  typedef struct packed {
    reduced_t            r;
    logic [COS_W-1:0]    cos;
    logic [FACTOR_W-1:0] factor;
  } values_t;

  function automatic values_t evaluate(input linear_t in);
    logic [SINC_VALUE_W-1:0] factor;
    factor = in.sinc_value
        + {{(SINC_VALUE_W - LINEAR_W) {in.sinc_low[LINEAR_W-1]}}, in.sinc_low}
        + {{(SINC_VALUE_W - LINEAR_W) {in.sinc_high[LINEAR_W-1]}}, in.sinc_high};
    evaluate.r = in.r;
    evaluate.cos = {{(COS_W - COS_VALUE_W) {1'b0}}, in.cos_value}
        - {{(COS_W - LINEAR_W) {in.cos_low[LINEAR_W-1]}}, in.cos_low}
        - {{(COS_W - LINEAR_W) {in.cos_high[LINEAR_W-1]}}, in.cos_high};
    evaluate.factor = factor[SINC_VALUE_W-1:FACTOR_DROP];
  endfunction

  values_t values_d, values_q;

  assign values_d = evaluate(linear_q);

  fp_pipe #(.WIDTH($bits(values_t)), .ENABLE(CUT[10])) u_cut_11 (
    .clk_i, .enable_i(1'b1), .data_i(values_d), .data_o(values_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 12, 13 and 14: sin r = r - r factor, in partial products of a DSP block's width: the
  // two parts of r, `low` and `high`, times the factor in two rows. Of low r only what stands above
  // its own bits counts, and its first row ends where the second one of high r begins
  // ---------------------------------------------------------------------------------------------
  localparam int LOW_W = 17;
  localparam int HIGH_W = NORMAL_W - LOW_W;
  localparam int UPPER_W = HIGH_W + FACTOR_W;
  localparam int LESS_W = NORMAL_W + FACTOR_W - FACTOR_F;

  typedef struct packed {
    reduced_t            r;
    logic [COS_W-1:0]    cos;
    logic [UPPER_W-1:0]  outer;
    logic [FACTOR_W-1:0] low;
    logic [UPPER_W-1:0]  high;
  } partial_t;

  typedef struct packed {
    reduced_t          r;
    logic [COS_W-1:0]  cos;
    logic [LESS_W-1:0] less;
  } product_t;

  typedef struct packed {
    common_t             common;
    logic [COS_W-1:0]    cos;
    logic [NORMAL_W-1:0] sin;
  } result_t;

  function automatic product_t sum_up(input partial_t in);
    logic [UPPER_W-1:0] upper;
    upper = in.high + in.outer + {{HIGH_W{1'b0}}, in.low};
    sum_up.r = in.r;
    sum_up.cos = in.cos;
    sum_up.less = upper[UPPER_W-1:FACTOR_F-LOW_W];
  endfunction

  function automatic result_t subtract(input product_t in);
    subtract.common = in.r.common;
    subtract.cos = in.cos;
    subtract.sin = in.r.normal - {{(NORMAL_W - LESS_W) {1'b0}}, in.less};
  endfunction

  partial_t partial_d, partial_q;
  product_t product_d, product_q;
  result_t result_d, result_q;

  if (LOGIC) begin : gen_sine_logic
    localparam int SINE_W = NORMAL_W + 1 + FACTOR_W;  // a sign more, of the angle
    values_t of_sine;  // the values with the product
    logic [SINE_W-1:0] low, high;

    fp_product #(
      .MULTIPLIER_W(FACTOR_W),
      .MULTIPLICAND_W(NORMAL_W + 1),
      .CUTS(SINE_CUTS)
    ) u_sine (
      .clk_i,
      .multiplier_i(values_q.factor),
      .multiplicand_i({1'b0, values_q.r.normal}),
      .low_o(low),
      .high_o(high)
    );

    step_delay #(.WIDTH($bits(values_t)), .CYCLES(SINE_CUTS)) u_values (
      .clk_i, .data_i(values_q), .data_o(of_sine)
    );

    assign partial_d.r = of_sine.r;
    assign partial_d.cos = of_sine.cos;
    assign partial_d.high = low[SINE_W-2:LOW_W];
    assign partial_d.outer = high[SINE_W-2:LOW_W];  // whose lower bits are zero
    assign partial_d.low = '0;

    logic unused;
    assign unused = &{1'b0, low[SINE_W-1], low[LOW_W-1:0], high[SINE_W-1], high[LOW_W-1:0],
                       of_sine.factor};
  end else begin : gen_sine
    // verilator lint_off UNUSEDSIGNAL  // the low bits are cut off
    logic [LOW_W+FACTOR_W-1:0] low_low, low_high;
    // verilator lint_on UNUSEDSIGNAL
    logic [UPPER_W-1:0] high_low, high_high;

    fp_rows #(
      .A_W(FACTOR_W),
      .B_W(LOW_W),
      .DSP_W(DSP_W)
    ) u_low (
      .a_i(values_q.factor), .b_i(values_q.r.normal[LOW_W-1:0]), .low_o(low_low), .high_o(low_high)
    );

    fp_rows #(
      .A_W(FACTOR_W),
      .B_W(HIGH_W),
      .DSP_W(DSP_W)
    ) u_high (
      .a_i(values_q.factor),
      .b_i(values_q.r.normal[NORMAL_W-1:LOW_W]),
      .low_o(high_low),
      .high_o(high_high)
    );

    assign partial_d.r = values_q.r;
    assign partial_d.cos = values_q.cos;
    assign partial_d.outer = high_high | {{HIGH_W{1'b0}}, low_low[LOW_W+FACTOR_W-1:LOW_W]};
    assign partial_d.low = low_high[LOW_W+FACTOR_W-1:LOW_W];
    assign partial_d.high = high_low;
  end

  fp_pipe #(.WIDTH($bits(partial_t)), .ENABLE(CUT[11])) u_cut_12 (
    .clk_i, .enable_i(1'b1), .data_i(partial_d), .data_o(partial_q)
  );

  assign product_d = sum_up(partial_q);

  fp_pipe #(.WIDTH($bits(product_t)), .ENABLE(CUT[12])) u_cut_13 (
    .clk_i, .enable_i(1'b1), .data_i(product_d), .data_o(product_q)
  );

  assign result_d = subtract(product_q);

  fp_pipe #(.WIDTH($bits(result_t)), .ENABLE(CUT[13])) u_cut_14 (
    .clk_i, .enable_i(1'b1), .data_i(result_d), .data_o(result_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 15 and 16: normalise by at most one place, round, swap. Results are never half way
  // ---------------------------------------------------------------------------------------------
  logic [W-1:0] r_sin, r_cos;
  logic [fp_pkg::FLAGS_W-1:0] sin_flags, cos_flags;
  logic swap, sin_below, cos_below;
  logic [MAN_W:0] sin_digits, cos_digits;  // mantissa and the bit that rounds
  logic [EXP_W-1:0] sin_exponent;
  logic sin_tiny;

  // Sines of normalised angles are at least 0.89 times them; cosines lie from 0.67 to 1.
  assign sin_below = !result_q.sin[NORMAL_W-1];
  assign cos_below = !result_q.cos[COS_W-1];
  assign sin_digits = sin_below ? result_q.sin[NORMAL_W-3:NORMAL_W-3-MAN_W]
                                : result_q.sin[NORMAL_W-2:NORMAL_W-2-MAN_W];
  assign cos_digits = cos_below ? result_q.cos[COS_W-3:COS_W-3-MAN_W]
                                : result_q.cos[COS_W-2:COS_W-2-MAN_W];
  assign sin_exponent = result_q.common.exponent[EXP_W-1:0] - {{(EXP_W - 1) {1'b0}}, sin_below};
  // The exponent after normalising would show it too, but later.
  assign sin_tiny = result_q.common.exponent[EXPONENT_W-1]
      || (sin_below && result_q.common.exponent == '0)
      || (result_q.common.exponent == {{(EXPONENT_W - 1) {1'b0}}, sin_below} && !(&sin_digits));

  fp_round #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .CUT(CUT[14])
  ) u_round_sin (
    .clk_i,
    .sign_i(result_q.common.sin_negative),
    .nan_i(result_q.common.nan),
    .inf_i(1'b0),
    .zero_i(result_q.common.zero),
    .invalid_i(result_q.common.invalid),
    .tiny_i(sin_tiny),
    .too_large_i(1'b0),
    .exponent_i(sin_exponent),
    .carry_i(1'b0),
    .mantissa_i(sin_digits[MAN_W:1]),
    .round_up_i(sin_digits[0]),
    .inexact_i(1'b1),
    .y_o(r_sin),
    .flags_o(sin_flags)
  );

  fp_round #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .CUT(CUT[14])
  ) u_round_cos (
    .clk_i,
    .sign_i(result_q.common.cos_negative),
    .nan_i(result_q.common.nan),
    .inf_i(1'b0),
    .zero_i(1'b0),
    .invalid_i(result_q.common.invalid),
    .tiny_i(1'b0),
    .too_large_i(1'b0),
    .exponent_i(BIAS[EXP_W-1:0] - {{(EXP_W - 1) {1'b0}}, cos_below}),
    .carry_i(1'b0),
    .mantissa_i(cos_digits[MAN_W:1]),
    .round_up_i(cos_digits[0]),
    .inexact_i(!result_q.common.zero),
    .y_o(r_cos),
    .flags_o(cos_flags)
  );

  fp_pipe #(.WIDTH(1), .ENABLE(CUT[14])) u_cut_15 (
    .clk_i, .enable_i(1'b1), .data_i(result_q.common.swap), .data_o(swap)
  );

  fp_pipe #(.WIDTH(2 * W + fp_pkg::FLAGS_W), .ENABLE(CUT[15])) u_output (
    .clk_i,
    .enable_i(1'b1),
    .data_i({swap ? {r_cos, r_sin} : {r_sin, r_cos}, sin_flags | cos_flags}),
    .data_o({sin_o, cos_o, flags_o})
  );

endmodule
