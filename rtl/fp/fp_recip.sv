// Float reciprocal, correctly rounded: y = 1 / a. Rules and flags: fp_pkg.sv.
//
// A non-restoring division array: every row subtracts or adds the divisor, and the complement of
// the remainder's sign is a quotient bit. The quotient gets one guard bit and no sticky bit: the
// reciprocal of a significand other than 1.0 is never representable, nor half way between.
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock.

module fp_recip #(
  parameter int EXP_W  = 8,
  parameter int MAN_W  = 23,
  parameter int STAGES = 0
) (
  input  logic                       clk_i,
  input  logic [EXP_W+MAN_W:0]       a_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  fp_check #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES)) u_check ();

  localparam int W = 1 + EXP_W + MAN_W;

  // Remainders lie in [-divisor, divisor]: the significand's bits and a sign.
  localparam int REMAINDER_W = MAN_W + 2;
  // Quotient bits behind the leading 1, the last one being the guard bit: one array row each.
  localparam int ROWS = MAN_W + 1;

  // The quotient's exponent, in two's complement.
  localparam int EXPONENT_W = EXP_W + 2;
  localparam logic [EXPONENT_W-1:0] TWICE_BIAS_LESS_1 = (1 << EXP_W) - 3;

  // The rows are spread over as many sections as there are stages. Preparing the first remainder
  // counts as one row, and so does the rounding, so the outer sections get fewer.
  localparam int SECTIONS = STAGES > 1 ? STAGES : 1;

  function automatic int rows_before(input int section);
    int rows;
    rows = (ROWS + 2) * section / SECTIONS - 1;
    if (rows < 0) rows = 0;
    if (rows > ROWS) rows = ROWS;
    rows_before = rows;
  endfunction

  typedef struct packed {
    logic                  sign;
    logic                  nan;
    logic                  infinity;  // the operand is a zero
    logic                  zero;      // the operand is infinity
    logic                  invalid;
    logic                  exact;     // significand 1.0
    logic [EXPONENT_W-1:0] exponent;  // of a quotient in [1/2, 1)
  } common_t;

  typedef struct packed {
    common_t                common;
    logic [REMAINDER_W-1:0] divisor;
    logic [REMAINDER_W-1:0] remainder;
    logic [ROWS-1:0]        quotient;
  } state_t;

  // ---------------------------------------------------------------------------------------------
  // Classify; first remainder: the quotient's leading 1 is known, so 2 - significand
  // ---------------------------------------------------------------------------------------------
  function automatic state_t prepare(input logic [W-1:0] a);
    logic special, fraction;
    logic [REMAINDER_W-1:0] divisor;
    special = &a[W-2:MAN_W];
    fraction = a[MAN_W-1:0] != '0;
    divisor = {2'b01, a[MAN_W-1:0]};
    prepare.common.sign = a[W-1];
    prepare.common.nan = special && fraction;
    prepare.common.infinity = a[W-2:MAN_W] == '0;
    prepare.common.zero = special;
    prepare.common.invalid = special && fraction && !a[MAN_W-1];
    prepare.common.exact = !fraction;
    prepare.common.exponent = TWICE_BIAS_LESS_1 - {2'b00, a[W-2:MAN_W]};
    prepare.divisor = divisor;
    prepare.remainder = {1'b1, {(REMAINDER_W - 1) {1'b0}}} - divisor;
    prepare.quotient = '0;
  endfunction

  // ---------------------------------------------------------------------------------------------
  // The array
  // ---------------------------------------------------------------------------------------------
  function automatic state_t divide(input state_t in, input int rows);
    logic subtract;
    logic [REMAINDER_W-1:0] remainder;
    logic [ROWS-1:0] quotient;
    remainder = in.remainder;
    quotient = in.quotient;
    for (int row = 0; row < rows; row++) begin
      subtract = !remainder[REMAINDER_W-1];
      // The doubled remainder's free lowest bit takes the carry in of the subtraction.
      remainder = {remainder[REMAINDER_W-2:0], subtract} + (in.divisor ^ {REMAINDER_W{subtract}});
      quotient = {quotient[ROWS-2:0], !remainder[REMAINDER_W-1]};
    end
    divide.common = in.common;
    divide.divisor = in.divisor;
    divide.remainder = remainder;
    divide.quotient = quotient;
  endfunction

  for (genvar i = 0; i < SECTIONS; i++) begin : gen_section
    state_t state_in, state_d, state_q;

    if (i == 0) begin : gen_first
      assign state_in = prepare(a_i);
    end else begin : gen_next
      assign state_in = gen_section[i-1].state_q;
    end

    assign state_d = divide(state_in, rows_before(i + 1) - rows_before(i));

    fp_pipe #(.WIDTH($bits(state_t)), .ENABLE(i < SECTIONS - 1)) u_cut (
      .clk_i, .data_i(state_d), .data_o(state_q)
    );
  end

  // ---------------------------------------------------------------------------------------------
  // Round; significand 1.0 gives a quotient of all ones, which rounds up to the exact result
  // ---------------------------------------------------------------------------------------------
  // verilator lint_off UNUSEDSIGNAL  // the last remainder is not needed
  state_t divided;
  // verilator lint_on UNUSEDSIGNAL
  logic [W-1:0] y;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  assign divided = gen_section[SECTIONS-1].state_q;

  // Never too large: the smallest operand's reciprocal is finite.
  logic tiny;
  assign tiny = divided.common.exponent[EXPONENT_W-1]
                || (divided.common.exponent == '0 && !(&divided.quotient));

  fp_round #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W)
  ) u_round (
    .clk_i,
    .sign_i(divided.common.sign),
    .nan_i(divided.common.nan),
    .inf_i(divided.common.infinity),
    .zero_i(divided.common.zero),
    .invalid_i(divided.common.invalid),
    .div_by_zero_i(divided.common.infinity),
    .tiny_i(tiny),
    .too_large_i(1'b0),
    .exponent_i(divided.common.exponent[EXP_W-1:0]),
    .carry_i(1'b0),
    .mantissa_i(divided.quotient[ROWS-1:1]),
    .round_up_i(divided.quotient[0]),
    .inexact_i(!divided.common.exact),
    .y_o(y),
    .flags_o(flags)
  );

  fp_pipe #(.WIDTH(W + fp_pkg::FLAGS_W), .ENABLE(STAGES > 0)) u_output (
    .clk_i, .data_i({y, flags}), .data_o({y_o, flags_o})
  );

endmodule
