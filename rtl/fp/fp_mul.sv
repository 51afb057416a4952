// Float multiplier, correctly rounded: y = a * b. Rules and flags: fp_pkg.sv.
//
// Half a unit in the last place of a product in [1, 2) is added along with the partial products,
// so that such a product comes rounded, and only a tie remains to be made even. A product that
// thereby reaches [2, 4) lacks as much again, which is at most one carry into its last place.
//
// SPECIALS = 0 leaves out infinite and NaN operands: what they give is then unspecified. Zeros,
// subnormals, overflow and underflow stay as they are.
//
// DSP_W is the wide unsigned factor of the device's multipliers (fp_pkg), at least 17; the narrow
// one is taken as 17.
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock.

module fp_mul #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0,
  parameter bit SPECIALS = 1'b1,
  parameter int DSP_W = fp_pkg::DSP_W
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

  // Significand b is cut in two; a narrow one leaves only its implicit bit to the upper part.
  // Significand a is cut if it is wider than DSP_W.
  localparam int DSP_NARROW_W = 17;
  localparam int B_LOW_W = MAN_W > DSP_NARROW_W ? DSP_NARROW_W : MAN_W;
  localparam int B_HIGH_W = SIG_W - B_LOW_W;
  localparam bit TOO_NARROW = DSP_W < DSP_NARROW_W;
  localparam bit CUT_A = SIG_W > DSP_W && !TOO_NARROW;  // which would not even elaborate

  if (TOO_NARROW) begin : gen_check_dsp_w
    initial $fatal(1, "%m: DSP_W is %0d, must be at least %0d", DSP_W, DSP_NARROW_W);
  end

  // Half a unit in the last place of a product in [1, 2), which has MAN_W places.
  localparam int HALF_BIT = MAN_W - 1;
  localparam logic [PRODUCT_W-1:0] HALF = 1 << HALF_BIT;

  // The partial products. The lowest bits come from the lowest one alone, and only matter if not
  // all zero. With CUT_A, `straight` is two products side by side, and `skew_a` one more row.
  //
  //             PRODUCT_W-1                 B_LOW_W  TAIL_W           0
  //            +------------------+-----------------------------------+
  //   straight |        0         |             a * low b             |
  //            +------------------+-------------+-------+-------------+
  //   skew_b   |          a * high b            |   0   |
  //            +--------------------------------+-------+
  //            |<---------------- SUM_W --------------->|<- TAIL_W -->|
  localparam int TAIL_W = B_LOW_W < HALF_BIT ? B_LOW_W : HALF_BIT;
  localparam int SUM_W = PRODUCT_W - TAIL_W;

  // The exponents' sum plus one: less 2^(EXP_W-1), the biased exponent of a product in [1, 2).
  localparam int EXPONENT_W = EXP_W + 1;

  // Registered cuts: bit 0 is behind the ports, bit i behind section i, the last one the output.
  localparam logic [5:0] CUT =
      STAGES == 1 ? 6'b100000 :
      STAGES == 2 ? 6'b100100 :
      STAGES == 3 ? 6'b101010 :
      STAGES == 4 ? 6'b111010 :
      STAGES == 5 ? 6'b111011 :
      STAGES == 6 ? 6'b111111 : 6'b000000;

  typedef struct packed {
    logic                  sign;
    logic                  nan;
    logic                  infinity;
    logic                  zero;
    logic                  invalid;
    logic [EXPONENT_W-1:0] exponent;  // sum plus one
  } class_t;

  // Partial products, those that overlap in different rows. Bits [PRODUCT_W-1:TAIL_W] of the last
  // two, which have no lower ones.
  typedef struct packed {
    class_t               operands;
    logic [PRODUCT_W-1:0] straight;  // low a * low b, high a * high b
    logic [SUM_W-1:0]     skew_b;    // low a * high b
    logic [SUM_W-1:0]     skew_a;    // high a * low b
  } partial_t;

  // What the last three sections hand on, with the exponent of a product in [1, 2).
  typedef struct packed {
    logic             sign;
    logic             nan;
    logic             infinity;
    logic             zero;
    logic             invalid;
    logic [EXP_W-1:0] exponent;
    logic             upper;    // exponent in the upper half of its range, or above
    logic             outside;  // exponent out of range, whatever the product
    logic             at_edge;  // exponent's last bit and the product decide
  } common_t;

  typedef struct packed {
    common_t          common;
    logic             tail;  // any of the bits below
    logic [SUM_W-1:0] row_1;
    logic [SUM_W-1:0] row_2;
  } rows_t;

  typedef struct packed {
    common_t        common;
    logic [SUM_W:0] value;  // the lowest bit stands for the tail
  } product_t;

  typedef struct packed {
    common_t        common;
    logic           carry;  // product in [2, 4)
    logic           tiny;
    logic           too_large;
    logic [MAN_W:0] mantissa;  // of a product in [2, 4), and the last bit of one in [1, 2)
    logic           round_up;
    logic           inexact;
  } normal_t;

  // ---------------------------------------------------------------------------------------------
  // Operands
  // ---------------------------------------------------------------------------------------------
  logic [W-1:0] a_q, b_q;

  fp_pipe #(.WIDTH(2 * W), .ENABLE(CUT[0])) u_operands (
    .clk_i, .enable_i(1'b1), .data_i({a_i, b_i}), .data_o({a_q, b_q})
  );

  // ---------------------------------------------------------------------------------------------
  // Section 1: classify, add the exponents, multiply
  // ---------------------------------------------------------------------------------------------
  function automatic class_t classify(input logic [W-1:0] a, input logic [W-1:0] b);
    logic special_a, special_b, nan_a, nan_b, zero_a, zero_b, zero_times_inf, unused;
    special_a = SPECIALS && (&a[W-2:MAN_W]);
    special_b = SPECIALS && (&b[W-2:MAN_W]);
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

  // verilator lint_off UNUSEDSIGNAL  // two products do without skew_a
  partial_t partial_d, partial_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [PRODUCT_W-1:0] straight;
  logic [SUM_W-1:0] skew_b, skew_a;
  logic [SIG_W-1:0] sig_a;
  logic [B_LOW_W-1:0] b_low;
  logic [B_HIGH_W-1:0] b_high;

  assign sig_a = {1'b1, a_q[MAN_W-1:0]};
  assign {b_high, b_low} = {1'b1, b_q[MAN_W-1:0]};

  if (CUT_A) begin : gen_four_products
    localparam int A_HIGH_W = SIG_W - DSP_W;
    logic [DSP_W-1:0] a_low;
    logic [A_HIGH_W-1:0] a_high;
    logic [DSP_W+B_LOW_W-1:0] low;
    logic [A_HIGH_W+B_HIGH_W-1:0] high;
    logic [A_HIGH_W+B_LOW_W-1:0] high_low;
    logic [DSP_W+B_HIGH_W-1:0] low_high;

    assign {a_high, a_low} = sig_a;
    assign low = {{B_LOW_W{1'b0}}, a_low} * {{DSP_W{1'b0}}, b_low};
    assign high = {{B_HIGH_W{1'b0}}, a_high} * {{A_HIGH_W{1'b0}}, b_high};
    assign high_low = {{B_LOW_W{1'b0}}, a_high} * {{A_HIGH_W{1'b0}}, b_low};
    assign low_high = {{B_HIGH_W{1'b0}}, a_low} * {{DSP_W{1'b0}}, b_high};

    assign straight = {high, low};
    assign skew_b = {{(SUM_W - DSP_W - B_HIGH_W){1'b0}}, low_high} << (B_LOW_W - TAIL_W);
    assign skew_a = {{B_HIGH_W{1'b0}}, high_low, {(DSP_W - TAIL_W) {1'b0}}};
  end else begin : gen_two_products
    logic [SIG_W+B_LOW_W-1:0] low;
    logic [SIG_W+B_HIGH_W-1:0] high;

    // A DSP block adds the constant, and the other one both products.
    assign low = {{B_LOW_W{1'b0}}, sig_a} * {{SIG_W{1'b0}}, b_low} + HALF[SIG_W+B_LOW_W-1:0];
    assign high = {{B_HIGH_W{1'b0}}, sig_a} * {{SIG_W{1'b0}}, b_high};

    assign straight = {{B_HIGH_W{1'b0}}, low};
    assign skew_b = {{(SUM_W - SIG_W - B_HIGH_W){1'b0}}, high} << (B_LOW_W - TAIL_W);
    assign skew_a = '0;
  end

  // Here and below one concatenation, as Icarus is slow at parts.
  assign partial_d = {classify(a_q, b_q), straight, skew_b, skew_a};

  fp_pipe #(.WIDTH($bits(partial_t)), .ENABLE(CUT[1])) u_cut_1 (
    .clk_i, .enable_i(1'b1), .data_i(partial_d), .data_o(partial_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 2: exponent's range, no more than two rows
  // ---------------------------------------------------------------------------------------------
  function automatic common_t judge(input class_t operands);
    logic top, middle;
    logic [EXP_W-2:0] low;
    {top, middle, low} = operands.exponent;
    judge.sign = operands.sign;
    judge.nan = operands.nan;
    judge.infinity = operands.infinity;
    judge.zero = operands.zero;
    judge.invalid = operands.invalid;
    judge.exponent = {!middle, low};
    judge.upper = top;
    judge.outside = top == middle;
    judge.at_edge = low[EXP_W-2:1] == {(EXP_W - 2) {!middle}};
  endfunction

  // Three rows of a full adder without its carries' chain: {sums, carries}.
  function automatic logic [2*SUM_W-1:0] compress(
    input logic [SUM_W-1:0] x, input logic [SUM_W-1:0] y, input logic [SUM_W-1:0] z
  );
    compress = {x ^ y ^ z, ((x & y) | (x & z) | (y & z)) << 1};
  endfunction

  rows_t rows_d, rows_q;
  logic [SUM_W-1:0] row_1, row_2;

  if (CUT_A) begin : gen_compress
    logic [SUM_W-1:0] sums, carries;
    assign {sums, carries} =
        compress(partial_q.straight[PRODUCT_W-1:TAIL_W], partial_q.skew_a, partial_q.skew_b);
    assign {row_1, row_2} = compress(sums, carries, HALF[PRODUCT_W-1:TAIL_W]);
  end else begin : gen_two_rows
    assign row_1 = partial_q.straight[PRODUCT_W-1:TAIL_W];
    assign row_2 = partial_q.skew_b;
  end

  assign rows_d =
      {judge(partial_q.operands), |partial_q.straight[TAIL_W-1:0], row_1, row_2};

  fp_pipe #(.WIDTH($bits(rows_t)), .ENABLE(CUT[2])) u_cut_2 (
    .clk_i, .enable_i(1'b1), .data_i(rows_d), .data_o(rows_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 3: product and half a unit, in [1, 4), two bits before the point
  // ---------------------------------------------------------------------------------------------
  product_t product_d, product_q;

  logic [SUM_W-1:0] sum;
  assign sum = rows_q.row_2 + rows_q.row_1;
  assign product_d = {rows_q.common, sum, rows_q.tail};

  fp_pipe #(.WIDTH($bits(product_t)), .ENABLE(CUT[3])) u_cut_3 (
    .clk_i, .enable_i(1'b1), .data_i(product_d), .data_o(product_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 4: range and rounding of either binade
  //
  //           SUM_W  SUM_W-1 .. LAST  LAST-1  LAST-2  LAST-3 .. 0
  //          +------+------------------+------+------+-------------+
  //   [2, 4) |  1   |     mantissa     | half |        rest        |
  //          +------+---+--------------+------+------+-------------+
  //   [1, 2) |  0   | 1 |       mantissa      | half |     rest    |
  //          +------+---+---------------------+------+-------------+
  // ---------------------------------------------------------------------------------------------
  localparam int LAST = SUM_W - MAN_W;  // last place of a product in [2, 4)

  function automatic normal_t normalise(input product_t in);
    logic carry, last, half, rest, outside;
    carry = in.value[SUM_W];
    last = in.value[LAST-1];
    half = in.value[LAST-2];
    rest = |in.value[LAST-3:0];
    normalise.common = in.common;
    normalise.carry = carry;
    outside = in.common.outside
              || (in.common.at_edge && in.common.upper == (in.common.exponent[0] || carry));
    normalise.tiny = outside && !in.common.upper;
    normalise.too_large = outside && in.common.upper;
    normalise.mantissa = {in.value[SUM_W-1:LAST], last && (half || rest)};
    normalise.round_up = carry && last && half && (rest || in.value[LAST]);
    normalise.inexact = !half || rest || (carry && last);
  endfunction

  normal_t normal_d, normal_q;

  assign normal_d = normalise(product_q);

  fp_pipe #(.WIDTH($bits(normal_t)), .ENABLE(CUT[4])) u_cut_4 (
    .clk_i, .enable_i(1'b1), .data_i(normal_d), .data_o(normal_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 5: normalise by at most one place, round
  // ---------------------------------------------------------------------------------------------
  logic [MAN_W-1:0] mantissa;
  logic [W-1:0] y;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  assign mantissa = normal_q.carry ? normal_q.mantissa[MAN_W:1] : normal_q.mantissa[MAN_W-1:0];

  fp_round #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W)
  ) u_round (
    .clk_i,
    .sign_i(normal_q.common.sign),
    .nan_i(normal_q.common.nan),
    .inf_i(normal_q.common.infinity),
    .zero_i(normal_q.common.zero),
    .invalid_i(normal_q.common.invalid),
    .tiny_i(normal_q.tiny),
    .too_large_i(normal_q.too_large),
    .exponent_i(normal_q.common.exponent),
    .carry_i(normal_q.carry),
    .mantissa_i(mantissa),
    .round_up_i(normal_q.round_up),
    .inexact_i(normal_q.inexact),
    .y_o(y),
    .flags_o(flags)
  );

  fp_pipe #(.WIDTH(W + fp_pkg::FLAGS_W), .ENABLE(CUT[5])) u_output (
    .clk_i, .enable_i(1'b1), .data_i({y, flags}), .data_o({y_o, flags_o})
  );

endmodule
