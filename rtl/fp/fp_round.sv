// Last section of every float unit: rounds up or not, packs, and raises the flags.
//
// A finite nonzero result comes as sign, exponent and mantissa (implicit bit left out) of its
// magnitude rounded down, with the decision whether to round up. exponent_i is the biased exponent
// in two's complement, wide enough never to wrap.
//
// Latency: 1 clock if CUT, else 0. Throughput: one result a clock.

module fp_round #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int EXPONENT_W = 10,
  parameter bit TINY_IS_EXACT = 1'b0,  // no result below the smallest normal is ever rounded up
  parameter bit CUT = 1'b0             // register between the two sections
) (
  input  logic                        clk_i,
  input  logic                        sign_i,
  input  logic                        nan_i,          // result is NaN; wins over inf_i and zero_i
  input  logic                        inf_i,          // result is an exact infinity
  input  logic                        zero_i,         // result is an exact zero
  input  logic                        invalid_i,      // flag, only with nan_i
  input  logic                        div_by_zero_i,  // flag, only with inf_i
  input  logic [EXPONENT_W-1:0]       exponent_i,
  input  logic [MAN_W-1:0]            mantissa_i,
  input  logic                        round_up_i,
  input  logic                        inexact_i,
  output logic [EXP_W+MAN_W:0]        y_o,
  output logic [fp_pkg::FLAGS_W-1:0]  flags_o
);

  localparam logic [EXP_W-1:0] EXP_ONES = '1;

  typedef struct packed {
    logic             sign;
    logic [EXP_W-1:0] exponent;
    logic [MAN_W-1:0] mantissa;
    logic             round_up;
    logic             finite;  // and not zero, before rounding
    logic             tiny;    // below the smallest normal, after rounding
    logic             inexact;
    logic             invalid;
    logic             div_by_zero;
  } selected_t;

  // ---------------------------------------------------------------------------------------------
  // Select: {exponent, mantissa} that only lacks the rounding
  // ---------------------------------------------------------------------------------------------
  function automatic selected_t select(
    input logic sign, input logic nan, input logic infinity, input logic zero,
    input logic invalid, input logic div_by_zero, input logic [EXPONENT_W-1:0] exponent,
    input logic [MAN_W-1:0] mantissa, input logic round_up, input logic inexact
  );
    logic negative, finite, tiny, too_large;
    negative = exponent[EXPONENT_W-1];
    finite = !(nan || infinity || zero);
    tiny = (negative || exponent == '0)
           && !(!TINY_IS_EXACT && !negative && round_up && (&mantissa));
    too_large = !negative && exponent >= {{(EXPONENT_W - EXP_W) {1'b0}}, EXP_ONES};

    select.sign = sign && !nan;
    select.finite = finite;
    select.tiny = finite && tiny;
    select.inexact = inexact;
    select.invalid = invalid;
    select.div_by_zero = div_by_zero;
    if (nan || infinity || (finite && too_large)) begin
      select.exponent = EXP_ONES;
      select.mantissa = {nan, {(MAN_W - 1) {1'b0}}};
      select.round_up = 1'b0;
    end else if (zero || tiny) begin
      select.exponent = '0;
      select.mantissa = '0;
      select.round_up = 1'b0;
    end else begin
      select.exponent = exponent[EXP_W-1:0];
      select.mantissa = mantissa;
      select.round_up = round_up;
    end
  endfunction

  selected_t selected_d, selected_q;

  assign selected_d = select(sign_i, nan_i, inf_i, zero_i, invalid_i, div_by_zero_i, exponent_i,
                             mantissa_i, round_up_i, inexact_i);

  fp_pipe #(
    .WIDTH ($bits(selected_t)),
    .ENABLE(CUT)
  ) u_cut (
    .clk_i,
    .data_i(selected_d),
    .data_o(selected_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Round: a carry out of the mantissa increments the exponent, up to infinity
  // ---------------------------------------------------------------------------------------------
  logic [EXP_W+MAN_W-1:0] magnitude;
  logic overflow;

  assign magnitude = {selected_q.exponent, selected_q.mantissa}
                     + {{(EXP_W + MAN_W - 1) {1'b0}}, selected_q.round_up};
  assign overflow = selected_q.finite && (&magnitude[EXP_W+MAN_W-1:MAN_W]);
  assign y_o = {selected_q.sign, magnitude};

  logic inexact;
  assign inexact = overflow || selected_q.tiny || (selected_q.finite && selected_q.inexact);
  // In the order of fp_pkg, highest bit first; one concatenation, as Icarus is slow at parts.
  assign flags_o = {selected_q.invalid, selected_q.div_by_zero, overflow, selected_q.tiny, inexact};

endmodule
