// Quotient of a float reciprocal, correctly rounded: a non-restoring division array.
//
// Every row subtracts or adds the divisor, and the complement of the remainder's sign is a quotient
// bit. The quotient gets one guard bit and no sticky bit: the reciprocal of a significand other
// than 1.0 is never representable, nor half way between; that of 1.0 comes as all ones, which
// round up.
//
// Latency: CUTS clocks with enable_i, 0 = combinational. Throughput: one operation a clock.

module fp_recip_array #(
  parameter int MAN_W = 23,
  parameter int CUTS = 0
) (
  input  logic             clk_i,
  input  logic             enable_i,
  input  logic [MAN_W-1:0] fraction_i,
  output logic [MAN_W-1:0] mantissa_o,  // of a quotient in [1/2, 1)
  output logic             round_up_o
);

  // Remainders lie in [-divisor, divisor]. A row of the array makes one bit of the quotient behind
  // its leading 1.
  //
  //               MAN_W+1   MAN_W  MAN_W-1 .. 0
  //             +---------+-------+--------------+
  //   divisor   |    0    |   1   |   fraction   |
  //   remainder |  sign   |       significand    |
  //             +---------+-------+------+-------+
  //   quotient  |        mantissa        | guard |
  //             +------------------------+-------+
  localparam int REMAINDER_W = MAN_W + 2;
  localparam int ROWS = MAN_W + 1;

  // The rows are spread over the sections between the cuts. Preparing the first remainder counts as
  // one row, the rounding as two: it waits for the last row's sign, and its carry is longer than
  // theirs. So the outer sections get fewer.
  localparam int SECTIONS = CUTS + 1;

  function automatic int rows_before(input int section);
    int rows;
    rows = (ROWS + 3) * section / SECTIONS - 1;
    if (rows < 0) begin
      rows = 0;
    end
    if (rows > ROWS) begin
      rows = ROWS;
    end
    rows_before = rows;
  endfunction

  typedef struct packed {
    logic [REMAINDER_W-1:0] divisor;
    logic [REMAINDER_W-1:0] remainder;
    logic [ROWS-1:0]        quotient;
  } state_t;

  // First remainder: the quotient's leading 1 is known, so 2 - significand.
  function automatic state_t prepare(input logic [MAN_W-1:0] fraction);
    logic [REMAINDER_W-1:0] divisor;
    divisor = {2'b01, fraction};
    prepare.divisor = divisor;
    prepare.remainder = {1'b1, {(REMAINDER_W - 1) {1'b0}}} - divisor;
    prepare.quotient = '0;
  endfunction

  function automatic state_t divide(input state_t in, input int rows);
    logic subtract;
    logic [REMAINDER_W-1:0] divisor, remainder;
    logic [ROWS-1:0] quotient;
    divisor = in.divisor;
    remainder = in.remainder;
    quotient = in.quotient;
    for (int row = 0; row < rows; row++) begin
      subtract = !remainder[REMAINDER_W-1];
      // The doubled remainder's free lowest bit takes the carry in of the subtraction.
      remainder = {remainder[REMAINDER_W-2:0], subtract} + (divisor ^ {REMAINDER_W{subtract}});
      quotient = {quotient[ROWS-2:0], !remainder[REMAINDER_W-1]};
    end
    divide = {divisor, remainder, quotient};
  endfunction

  for (genvar i = 0; i < SECTIONS; i++) begin : gen_section
    state_t state_in, state_d, state_q;

    if (i == 0) begin : gen_first
      assign state_in = prepare(fraction_i);
    end else begin : gen_next
      assign state_in = gen_section[i-1].state_q;
    end

    assign state_d = divide(state_in, rows_before(i + 1) - rows_before(i));

    fp_pipe #(.WIDTH($bits(state_t)), .ENABLE(i < CUTS)) u_cut (
      .clk_i, .enable_i, .data_i(state_d), .data_o(state_q)
    );
  end

  // verilator lint_off UNUSEDSIGNAL  // the last remainder is not needed
  state_t divided;
  // verilator lint_on UNUSEDSIGNAL

  assign divided = gen_section[SECTIONS-1].state_q;
  assign {mantissa_o, round_up_o} = divided.quotient;

endmodule
