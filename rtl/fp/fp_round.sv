// Last section of fp_mul and fp_sincos: rounds up or not, packs, and raises the flags.
//
// A finite nonzero result comes as sign, exponent and mantissa (implicit bit left out) of its
// magnitude rounded down, with the decision whether to round up. Its exponent is exponent_i +
// carry_i; the adder that rounds adds the carry on its way. Whoever computes the exponent says
// cheapest whether it is out of range.
//
// Latency: 1 clock if CUT, otherwise 0. Throughput: one result a clock.

module fp_round #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter bit CUT = 1'b0  // register between the two sections
) (
  input  logic                       clk_i,
  input  logic                       sign_i,
  input  logic                       nan_i,          // result is NaN; wins over inf_i and zero_i
  input  logic                       inf_i,          // result is an exact infinity
  input  logic                       zero_i,         // result is an exact zero
  input  logic                       invalid_i,      // flag, only with nan_i
  input  logic                       tiny_i,         // below the smallest normal once rounded
  input  logic                       too_large_i,    // exponent not below all ones
  input  logic [EXP_W-1:0]           exponent_i,     // biased, its low bits
  input  logic                       carry_i,
  input  logic [MAN_W-1:0]           mantissa_i,
  input  logic                       round_up_i,
  input  logic                       inexact_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  typedef struct packed {
    logic             sign;
    logic [EXP_W-1:0] exponent;
    logic             carry;
    logic [MAN_W-1:0] mantissa;
    logic             round_up;
    logic             finite;  // and not zero, before rounding
    logic             tiny;    // below the smallest normal, after rounding
    logic             overflow;
    logic             inexact;
    logic             invalid;
  } selected_t;

  // ---------------------------------------------------------------------------------------------
  // Select: {exponent, mantissa} that only lacks the rounding
  // ---------------------------------------------------------------------------------------------
  function automatic selected_t select(
    input logic sign, input logic nan, input logic infinity, input logic zero,
    input logic invalid, input logic tiny, input logic too_large,
    input logic [EXP_W-1:0] exponent, input logic carry, input logic [MAN_W-1:0] mantissa,
    input logic round_up, input logic inexact
  );
    logic saturate, keep, last, overflow;
    select.sign = sign && !nan;
    select.finite = !(nan || infinity || zero);
    select.tiny = select.finite && tiny;
    // Of the largest finite numbers' exponent; not from the rounded sum, whose carry is late.
    last = carry ? (&exponent[EXP_W-1:2]) && exponent[1:0] == 2'b01
                 : (&exponent[EXP_W-1:1]) && !exponent[0];
    overflow = too_large || (!tiny && last && (&mantissa) && round_up);
    select.overflow = select.finite && overflow;
    select.inexact = inexact;
    select.invalid = invalid;
    // Explicit masks, so that the last multiplexer before it and the mask share a LUT.
    saturate = nan || infinity || (too_large && !zero);
    keep = !(nan || infinity || zero || tiny || too_large);
    select.exponent = exponent[EXP_W-1:0] & {EXP_W{keep}} | {EXP_W{saturate}};
    select.carry = carry && keep;
    select.mantissa = mantissa & {MAN_W{keep}} | {nan, {(MAN_W - 1) {1'b0}}};
    select.round_up = round_up && keep;
  endfunction

  selected_t selected_d, selected_q;

  assign selected_d = select(sign_i, nan_i, inf_i, zero_i, invalid_i, tiny_i, too_large_i,
                             exponent_i, carry_i, mantissa_i, round_up_i, inexact_i);

  fp_pipe #(
    .WIDTH($bits(selected_t)),
    .ENABLE(CUT)
  ) u_cut (
    .clk_i,
    .enable_i(1'b1),
    .data_i(selected_d),
    .data_o(selected_q)
  );

  // ---------------------------------------------------------------------------------------------
  // Round: a carry out of the mantissa increments the exponent, up to infinity
  // ---------------------------------------------------------------------------------------------
  logic [EXP_W+MAN_W-1:0] magnitude;
  logic unused;

  // The lowest bits turn the rounding into a carry.
  assign {magnitude, unused} = {selected_q.exponent, selected_q.mantissa, selected_q.round_up}
                               + {{(EXP_W - 1) {1'b0}}, selected_q.carry, {MAN_W{1'b0}},
                                  selected_q.round_up};
  assign y_o = {selected_q.sign, magnitude};

  logic inexact;
  assign inexact = selected_q.overflow || selected_q.tiny
                   || (selected_q.finite && selected_q.inexact);
  // In the order of fp_pkg, highest bit first; one concatenation, as Icarus is slow at parts.
  assign flags_o = {selected_q.invalid, 1'b0, selected_q.overflow, selected_q.tiny, inexact};

endmodule
