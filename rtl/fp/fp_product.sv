// A product as the sum of two rows, as fp_rows, but without multipliers of the device: multiplier *
// multiplicand = low + high, modulo 2^W.
//
// The multiplier's bits go in pairs. All digits but the first are odd, as a zero and a one may
// stand for -1 and +1 of half the weight: so a row is the multiplicand or its triple, added or
// subtracted, one LUT of four inputs and one adder a bit. Bits below a row are finished.
//
//   multiplier = 2^(MULTIPLIER_W - 1) + sum of digit k 4^k / 2 (k > 0) + digit 0
//
// `high_o` is the multiplicand 2^(MULTIPLIER_W - 1) times.
//
//   pair             00   01   10   11
//   digit k > 0      -3   -1   +1   +3
//   digit 0          -2   -1    0   +1
//
// CUTS registers lie between the rows, none at the output. No reset.
//
// Latency: CUTS clocks, 0 = combinational. Throughput: one product a clock.

module fp_product #(
  parameter int MULTIPLIER_W = 24,  // even, at least 4
  parameter int MULTIPLICAND_W = 18,
  parameter int CUTS = 0,
  localparam int W = MULTIPLIER_W + MULTIPLICAND_W
) (
  input  logic                      clk_i,
  input  logic [MULTIPLIER_W-1:0]   multiplier_i,
  input  logic [MULTIPLICAND_W-1:0] multiplicand_i,  // two's complement
  output logic [W-1:0]              low_o,
  output logic [W-1:0]              high_o
);

  localparam int MIN_MULTIPLIER_W = 4;
  if (MULTIPLIER_W < MIN_MULTIPLIER_W || MULTIPLIER_W % 2 != 0 || CUTS < 0) begin : gen_check
    initial $fatal(1, "%m: MULTIPLIER_W %0d must be even, at least %0d, CUTS %0d at least 0",
                   MULTIPLIER_W, MIN_MULTIPLIER_W, CUTS);
  end

  localparam int ROWS = MULTIPLIER_W / 2;
  localparam int SUM_W = MULTIPLICAND_W + 3;  // four times the multiplicand at most
  localparam int LOW_W = MULTIPLIER_W - 1;
  localparam int SECTIONS = CUTS + 1;

  typedef struct packed {
    logic [MULTIPLIER_W-1:0]   multiplier;  // pairs that are left, the next one lowest
    logic [MULTIPLICAND_W-1:0] multiplicand;
    logic [SUM_W-1:0]          triple;
    logic [SUM_W-1:0]          high;
    logic [LOW_W-1:0]          low;  // finished bits, the last ones on top
  } state_t;

  // A difference keeps its place, and its lowest bit is the carry in.
  function automatic logic [SUM_W-1:0] add(
    input logic [SUM_W-1:0] sum, input logic [SUM_W-1:0] row, input logic negative
  );
    logic unused;
    {add, unused} = {sum, negative} - {~(row ^ {SUM_W{negative}}), 1'b1};
  endfunction

  function automatic state_t step(input state_t in, input int first, input int last);
    logic [SUM_W-1:0] once, twice, triple, sum, row;
    logic [MULTIPLIER_W-1:0] multiplier;
    logic [LOW_W-1:0] low;
    logic [1:0] pair;
    once = {{3{in.multiplicand[MULTIPLICAND_W-1]}}, in.multiplicand};
    twice = {once[SUM_W-2:0], 1'b0};
    multiplier = in.multiplier;
    triple = in.triple;
    sum = in.high;
    low = in.low;
    for (int i = first; i < last; i++) begin
      pair = multiplier[1:0];
      if (i == 0) begin
        triple = once + twice;
        row = pair == 2'b00 ? twice : pair == 2'b10 ? '0 : once;
        sum = add('0, row, !pair[1]);
        low = {sum[0], low[LOW_W-1:1]};
        sum = {sum[SUM_W-1], sum[SUM_W-1:1]};
      end else begin
        row = pair[1] == pair[0] ? triple : once;
        sum = add(sum, row, !pair[1]);
        low = {sum[1:0], low[LOW_W-1:2]};
        sum = {{2{sum[SUM_W-1]}}, sum[SUM_W-1:2]};
      end
      multiplier = {2'b00, multiplier[MULTIPLIER_W-1:2]};
    end
    step = {multiplier, in.multiplicand, triple, sum, low};
  endfunction

  for (genvar i = 0; i < SECTIONS; i++) begin : gen_section
    state_t state_in, state_d, state_q;

    if (i == 0) begin : gen_first
      assign state_in = {multiplier_i, multiplicand_i, {(2 * SUM_W + LOW_W) {1'b0}}};
    end else begin : gen_next
      assign state_in = gen_section[i-1].state_q;
    end

    assign state_d = step(state_in, ROWS * i / SECTIONS, ROWS * (i + 1) / SECTIONS);

    fp_pipe #(.WIDTH($bits(state_t)), .ENABLE(i < CUTS)) u_cut (
      .clk_i, .enable_i(1'b1), .data_i(state_d), .data_o(state_q)
    );
  end

  // verilator lint_off UNUSEDSIGNAL  // what the rows came from
  state_t last;
  // verilator lint_on UNUSEDSIGNAL
  assign last = gen_section[SECTIONS-1].state_q;
  assign low_o = {last.high[MULTIPLICAND_W:0], last.low};
  assign high_o = {last.multiplicand[MULTIPLICAND_W-1], last.multiplicand, {LOW_W{1'b0}}};

endmodule
