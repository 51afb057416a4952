// Quotient of a float reciprocal, correctly rounded: a table and one Newton step.
//
// The significand is m in [1, 2), and p the middle of the segment of m that its top bits name.
//   coarse      y = (2p - m) / p^2: one table, and 2p - m is m with its low bits complemented
//   its error   e = 1 - m y, about ((m - p) / p)^2: exact, so that only its low bits are needed
//   quotient    q = y + y e
// All is rounded towards zero: e stays positive, and q lies less than 1.5 units in the last place
// below 1 / m. The sign of m (q + 1/2 unit) - 1, again exact in a few low bits, then shows whether
// to add one. pymodel/tests/arith/test_recip_table.py tries every significand for the widths.
//
// Binary32: three multiplications that fit a DSP48 each, one in logic, and a table of 64 x 17 bits.
//
// DSP_W is the wide unsigned factor of the device's multipliers (fp_pkg). A wider product is left
// as two rows, which the next section adds.
//
// Latency: CUTS clocks with enable_i, 0 = combinational. Throughput: one operation a clock.

module fp_recip_table #(
  parameter int MAN_W = 23,  // at most fp_pkg::RECIP_TABLE_MAX_MAN_W
  parameter int CUTS = 0,  // at most 7
  parameter int DSP_W = fp_pkg::DSP_W
) (
  input  logic             clk_i,
  input  logic             enable_i,
  input  logic [MAN_W-1:0] fraction_i,
  output logic [MAN_W-1:0] mantissa_o,  // of a quotient in [1/2, 1)
  output logic             round_up_o
);

  localparam int SIG_W = MAN_W + 1;

  //               SIG_W-1  MAN_W-1 .. LOW_W   LOW_W-1 .. 0
  //             +---------+-----------------+--------------+
  //   m         |    1    |     segment     |     low      |
  //             +---------+---------+-------+--------------+
  //   y         |       coarse      |  0 (COARSE_SHIFT)    |
  //   y e       |    0    |          correction            |
  //             +---------+--------------------------------+
  //   quotient  |                 y + y e                  |
  //             +------------------------------------------+
  //
  //   m y       |    ones    |     product (ERROR_W)       |   COARSE_W + MAN_W bits
  //             +------------+--------------+--------------+
  //   e         |   zeros    |     top      |     rest     |
  //             +------------+--------------+--------------+
  //
  // Segments; bits of 1 / p^2, of 2p - m, and the error's leading zeros.
  localparam int INDEX_W = (MAN_W + 4) / 4;
  localparam int LOW_W = MAN_W - INDEX_W;
  localparam int SQUARE_W = 2 * INDEX_W + 5;
  localparam int MIRROR_W = SQUARE_W + 1;
  localparam int ERROR_ZEROS = 2 * INDEX_W + 1;
  // The coarse quotient gets two bits more, but not more than the quotient: the smallest formats'
  // errors have that many zeros less.
  localparam int WANTED_W = ERROR_ZEROS + 2;
  localparam int COARSE_W = WANTED_W < SIG_W ? WANTED_W : SIG_W;
  localparam int LESS_ZEROS = WANTED_W - COARSE_W;
  // Places from the coarse quotient to the quotient.
  localparam int COARSE_SHIFT = SIG_W - COARSE_W;
  // The error, in units of 2^-(COARSE_W + MAN_W), and its top bits, which y e is made from.
  localparam int ERROR_W = COARSE_W + MAN_W - ERROR_ZEROS + LESS_ZEROS;
  localparam int ERROR_TOP_W = ERROR_ZEROS + LESS_ZEROS;
  localparam int CORRECTION_W = SIG_W - ERROR_ZEROS + LESS_ZEROS;
  // Rows of the correction times m, and how many of them go with the rest; bits of their digits.
  localparam int ROWS = CORRECTION_W / 2 + 1;
  localparam int LOW_ROWS = ROWS / 3;
  localparam int DIGITS_W = 2 * ROWS + 1;
  // The rest, m (2q + 1) - 2^(2 SIG_W) in integers, lies in (-2m, m].
  localparam int REST_W = SIG_W + 2;

  // Registered cuts: bit i is behind section i + 1.
  localparam logic [7:0] CUT =
      CUTS == 1 ? 8'b00001000 :
      CUTS == 2 ? 8'b00010010 :
      CUTS == 3 ? 8'b00011010 :
      CUTS == 4 ? 8'b01011010 :
      CUTS == 5 ? 8'b01011011 :
      CUTS == 6 ? 8'b10111011 :
      CUTS == 7 ? 8'b10111111 : 8'b00000000;

  // What sections hand on. The lowest part of `mirror` is that of the significand, inverted.
  typedef struct packed {
    logic [SIG_W-1:0]    mirror;  // 2p - m
    logic [SQUARE_W-1:0] square;  // 1 / p^2
  } looked_up_t;

  typedef struct packed {
    logic [SIG_W-1:0]    significand;
    logic [COARSE_W-1:0] coarse;
  } coarse_t;

  typedef struct packed {
    logic [SIG_W-1:0]    significand;
    logic [COARSE_W-1:0] coarse;
    logic [ERROR_W-1:0]  low;  // of m y, whose leading ones are left out
    logic [ERROR_W-1:0]  high;
  } product_t;

  typedef struct packed {
    logic [SIG_W-1:0]    significand;
    logic [COARSE_W-1:0] coarse;
    logic [ERROR_W-1:0]  error;
  } error_t;

  typedef struct packed {
    logic [SIG_W-1:0]        significand;
    logic [COARSE_W-1:0]     coarse;
    logic [CORRECTION_W-1:0] correction;  // y e
    logic [REST_W-1:0]       rest;        // with y for q
  } corrected_t;

  typedef struct packed {
    logic [MAN_W-1:0]    mantissa;
    logic [SIG_W-1:0]    significand;
    logic [DIGITS_W-1:0] digits;
    logic [REST_W-1:0]   rest;  // in two parts
    logic [REST_W-1:0]   more;  // but for its last row
  } rows_t;

  typedef struct packed {
    logic [MAN_W-1:0]  mantissa;
    logic [REST_W-1:0] rest;  // in two parts
    logic [REST_W-1:0] more;
  } rest_t;

  typedef struct packed {
    logic [MAN_W-1:0] mantissa;
    logic             round_up;
  } quotient_t;

  // ---------------------------------------------------------------------------------------------
  // Section 1: look up 1 / p^2
  // ---------------------------------------------------------------------------------------------
  localparam int SEGMENTS = 1 << INDEX_W;
  localparam int TABLE_W = SEGMENTS * SQUARE_W;

  function automatic logic [TABLE_W-1:0] inverse_squares();
    logic [63:0] twice_p, square;
    inverse_squares = '0;
    for (int i = 0; i < SEGMENTS; i++) begin
      twice_p = 64'(2 * SEGMENTS + 2 * i + 1);
      square = (64'd1 << (SQUARE_W + 2 * INDEX_W + 2)) / (twice_p * twice_p);
      inverse_squares[i*SQUARE_W+:SQUARE_W] = square[SQUARE_W-1:0];
    end
  endfunction

  localparam logic [TABLE_W-1:0] INVERSE_SQUARES = inverse_squares();

  function automatic looked_up_t look_up(input logic [MAN_W-1:0] fraction);
    look_up.mirror = {1'b1, fraction[MAN_W-1:LOW_W], ~fraction[LOW_W-1:0]};
    look_up.square = INVERSE_SQUARES[32'(fraction[MAN_W-1:LOW_W])*SQUARE_W+:SQUARE_W];
  endfunction

  looked_up_t looked_up_d, looked_up_q;

  assign looked_up_d = look_up(fraction_i);

  fp_pipe #(.WIDTH($bits(looked_up_t)), .ENABLE(CUT[0])) u_cut_1 (
    .clk_i, .enable_i, .data_i(looked_up_d), .data_o(looked_up_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 2: coarse quotient y
  // ---------------------------------------------------------------------------------------------
  function automatic coarse_t approximate(input looked_up_t in);
    logic [SIG_W+MIRROR_W-1:0] mirror;
    logic [SQUARE_W+MIRROR_W-1:0] product;
    mirror = {in.mirror, {MIRROR_W{1'b1}}};
    product = {{MIRROR_W{1'b0}}, in.square}
              * {{SQUARE_W{1'b0}}, mirror[SIG_W+MIRROR_W-1:SIG_W]};
    approximate.significand = {in.mirror[SIG_W-1:LOW_W], ~in.mirror[LOW_W-1:0]};
    approximate.coarse = product[2*SQUARE_W-1-:COARSE_W];
  endfunction

  coarse_t coarse_d, coarse_q;

  assign coarse_d = approximate(looked_up_q);

  fp_pipe #(.WIDTH($bits(coarse_t)), .ENABLE(CUT[1])) u_cut_2 (
    .clk_i, .enable_i, .data_i(coarse_d), .data_o(coarse_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 3 and 4: its error e
  // ---------------------------------------------------------------------------------------------
  function automatic error_t find_error(input product_t in);
    find_error.significand = in.significand;
    find_error.coarse = in.coarse;
    // The complement is the negative, but for a bit far below.
    find_error.error = ~(in.low + in.high);
  endfunction

  // verilator lint_off UNUSEDSIGNAL  // the leading ones
  logic [SIG_W+COARSE_W-1:0] low, high;
  // verilator lint_on UNUSEDSIGNAL
  product_t product_d, product_q;
  error_t error_d, error_q;

  fp_rows #(
    .A_W(SIG_W),
    .B_W(COARSE_W),
    .DSP_W(DSP_W)
  ) u_product (
    .a_i(coarse_q.significand), .b_i(coarse_q.coarse), .low_o(low), .high_o(high)
  );

  assign product_d.significand = coarse_q.significand;
  assign product_d.coarse = coarse_q.coarse;
  assign product_d.low = low[ERROR_W-1:0];
  assign product_d.high = high[ERROR_W-1:0];

  fp_pipe #(.WIDTH($bits(product_t)), .ENABLE(CUT[2])) u_cut_3 (
    .clk_i, .enable_i, .data_i(product_d), .data_o(product_q)
  );

  assign error_d = find_error(product_q);

  fp_pipe #(.WIDTH($bits(error_t)), .ENABLE(CUT[3])) u_cut_4 (
    .clk_i, .enable_i, .data_i(error_d), .data_o(error_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 5: correction y e; the rest but for it
  // ---------------------------------------------------------------------------------------------
  function automatic corrected_t correct(input error_t in);
    logic [ERROR_W+ERROR_TOP_W-1:0] error;
    logic [COARSE_W+ERROR_TOP_W-1:0] product;
    error = {in.error, {ERROR_TOP_W{1'b1}}};
    product = {{COARSE_W{1'b0}}, error[ERROR_W+ERROR_TOP_W-1-:ERROR_TOP_W]}
              * {{ERROR_TOP_W{1'b0}}, in.coarse};
    correct.significand = in.significand;
    correct.coarse = in.coarse;
    correct.correction = product[COARSE_W+ERROR_TOP_W-1-:CORRECTION_W];
    correct.rest = (REST_W'(~in.error) << (COARSE_SHIFT + 1)) + REST_W'(in.significand);
  endfunction

  corrected_t corrected_d, corrected_q;

  assign corrected_d = correct(error_q);

  fp_pipe #(.WIDTH($bits(corrected_t)), .ENABLE(CUT[4])) u_cut_5 (
    .clk_i, .enable_i, .data_i(corrected_d), .data_o(corrected_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Sections 6 and 7: quotient q; twice the correction times m, which completes the rest
  // ---------------------------------------------------------------------------------------------
  // Eleven bits do not deserve a DSP block, so a row for every two bits of the correction: Booth's
  // digits -2 to 2. A sum would turn into compressors in Yosys, with many more LUTs. So each row is
  // a difference that keeps its place, shares its LUTs with the choice of the multiple, and has one
  // more bit for the carry in. The rows make two chains, of two adders and of three, the last of
  // which is section 7.
  function automatic logic [REST_W-1:0] multiple(
    input logic [SIG_W-1:0] significand, input logic [2:0] digit
  );
    multiple = '0;
    if (digit[1] ^ digit[0]) begin
      multiple = REST_W'(significand);
    end else if (digit[2] ^ digit[1]) begin
      multiple = REST_W'({significand, 1'b0});
    end
  endfunction

  // A sum plus 2 4^index times a digit times the significand.
  function automatic logic [REST_W-1:0] add_row(
    input logic [REST_W-1:0] sum, input logic [SIG_W-1:0] significand,
    input logic [DIGITS_W-1:0] digits, input int index
  );
    logic negative, unused;
    logic [REST_W-1:0] row, upper, lower_bits;
    negative = digits[2*index+2];
    row = multiple(significand, digits[2*index+:3]) ^ {REST_W{negative}};
    {upper, unused} = {sum >> (2 * index + 1), negative} - {~row, 1'b1};
    lower_bits = ~({REST_W{1'b1}} << (2 * index + 1));
    add_row = (upper << (2 * index + 1)) | (sum & lower_bits);
  endfunction

  function automatic rows_t add_up(input corrected_t in);
    logic [SIG_W-1:0] quotient;
    logic [DIGITS_W-1:0] digits;
    logic [REST_W-1:0] rest, more;
    quotient = (SIG_W'(in.coarse) << COARSE_SHIFT) + SIG_W'(in.correction);
    digits = DIGITS_W'({in.correction, 1'b0});
    rest = in.rest;
    for (int i = 0; i < LOW_ROWS; i++) begin
      rest = add_row(rest, in.significand, digits, i);
    end
    // The last digit is never negative.
    more = multiple(in.significand, digits[2*ROWS-2+:3]) << (2 * ROWS - 1);
    for (int i = ROWS - 2; i > LOW_ROWS; i--) begin
      more = add_row(more, in.significand, digits, i);
    end
    add_up.mantissa = quotient[MAN_W-1:0];
    add_up.significand = in.significand;
    add_up.digits = digits;
    add_up.rest = rest;
    add_up.more = more;
  endfunction

  function automatic rest_t add_last(input rows_t in);
    add_last.mantissa = in.mantissa;
    add_last.rest = in.rest;
    add_last.more = in.more;
    if (LOW_ROWS < ROWS - 1) begin
      add_last.more = add_row(in.more, in.significand, in.digits, LOW_ROWS);
    end
  endfunction

  rows_t rows_d, rows_q;
  rest_t rest_d, rest_q;

  assign rows_d = add_up(corrected_q);

  fp_pipe #(.WIDTH($bits(rows_t)), .ENABLE(CUT[5])) u_cut_6 (
    .clk_i, .enable_i, .data_i(rows_d), .data_o(rows_q)
  );

  assign rest_d = add_last(rows_q);

  fp_pipe #(.WIDTH($bits(rest_t)), .ENABLE(CUT[6])) u_cut_7 (
    .clk_i, .enable_i, .data_i(rest_d), .data_o(rest_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Section 8: decide the rounding
  // ---------------------------------------------------------------------------------------------
  function automatic quotient_t decide(input rest_t in);
    logic [REST_W-1:0] rest;
    rest = in.rest + in.more;
    decide.mantissa = in.mantissa;
    decide.round_up = rest[REST_W-1];
  endfunction

  quotient_t quotient_d;

  assign quotient_d = decide(rest_q);

  fp_pipe #(.WIDTH($bits(quotient_t)), .ENABLE(CUT[7])) u_cut_8 (
    .clk_i, .enable_i, .data_i(quotient_d), .data_o({mantissa_o, round_up_o})
  );

endmodule
