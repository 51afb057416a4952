// What the float operations must give, written from the contract alone and not from the RTL: the
// exact result as an integer, then one rounding. Slow and plain; small formats are proved with it.
//
// The contract (pymodel/arith/fp.py has it as code): round to nearest, ties to even; a subnormal
// operand is a zero of its sign; a result that, rounded with unbounded exponent, lies below the
// smallest normal is a zero of its sign, with underflow and inexact; every NaN is the canonical
// one. Flags, bit 4 to 0: invalid, divide by zero, overflow, underflow, inexact.

// Rounds a magnitude that is not zero. Its leading one, at bit p, has the biased exponent
// p + offset_i.
module fp_spec_round #(
  parameter int EXP_W = 4,
  parameter int MAN_W = 3,
  parameter int W = 16  // at least MAN_W + 3
) (
  input  logic                 sign_i,
  input  logic [W-1:0]         magnitude_i,
  input  logic signed [31:0]   offset_i,
  output logic [EXP_W+MAN_W:0] y_o,
  output logic [4:0]           flags_o
);

  localparam int LARGEST = (1 << EXP_W) - 2;  // biased exponent of a finite number

  logic signed [31:0] exponent;
  logic [W-1:0] normal;  // leading one on top
  logic [MAN_W:0] kept;
  logic [MAN_W+1:0] rounded;
  logic half, rest, inexact;

  always_comb begin
    exponent = offset_i;
    normal = magnitude_i;
    for (int p = 0; p < W; p++) begin
      if (magnitude_i[p]) begin
        exponent = p + offset_i;
        normal = magnitude_i << (W - 1 - p);
      end
    end
    kept = normal[W-1-:MAN_W+1];
    half = normal[W-2-MAN_W];
    rest = normal[W-3-MAN_W:0] != '0;
    inexact = half || rest;
    rounded = {1'b0, kept} + (MAN_W + 2)'(half && (rest || kept[0]));
    if (rounded[MAN_W+1]) begin
      exponent = exponent + 1;
      rounded = rounded >> 1;
    end
    if (exponent < 1) begin
      y_o = {sign_i, {(EXP_W + MAN_W) {1'b0}}};
      flags_o = 5'b00011;
    end else if (exponent > LARGEST) begin
      y_o = {sign_i, {EXP_W{1'b1}}, {MAN_W{1'b0}}};
      flags_o = 5'b00101;
    end else begin
      y_o = {sign_i, EXP_W'(exponent), rounded[MAN_W-1:0]};
      flags_o = {4'b0000, inexact};
    end
  end

endmodule

// What a number is.
module fp_spec_class #(
  parameter int EXP_W = 4,
  parameter int MAN_W = 3
) (
  input  logic [EXP_W+MAN_W:0] a_i,
  output logic                 sign_o,
  output logic [31:0]          exponent_o,     // biased
  output logic [MAN_W:0]       significand_o,  // zero of a zero
  output logic                 zero_o,
  output logic                 infinite_o,
  output logic                 nan_o,
  output logic                 signaling_o
);

  logic [EXP_W-1:0] exponent;
  logic [MAN_W-1:0] mantissa;
  assign {sign_o, exponent, mantissa} = a_i;
  assign exponent_o = 32'(exponent);
  assign zero_o = exponent == '0;
  assign significand_o = zero_o ? '0 : {1'b1, mantissa};
  assign infinite_o = exponent == '1 && mantissa == '0;
  assign nan_o = exponent == '1 && mantissa != '0;
  assign signaling_o = nan_o && !mantissa[MAN_W-1];

endmodule

// Sum. Both operands stand in one fixed-point number with a place for every bit of the format.
module fp_spec_add #(
  parameter int EXP_W = 4,
  parameter int MAN_W = 3
) (
  input  logic [EXP_W+MAN_W:0] a_i,
  input  logic [EXP_W+MAN_W:0] b_i,
  output logic [EXP_W+MAN_W:0] y_o,
  output logic [4:0]           flags_o
);

  localparam int W = (1 << EXP_W) + MAN_W + 2;
  localparam logic [EXP_W+MAN_W:0] NAN = {1'b0, {EXP_W{1'b1}}, 1'b1, {(MAN_W - 1) {1'b0}}};

  logic sign_a, sign_b, zero_a, zero_b, inf_a, inf_b, nan_a, nan_b, signaling_a, signaling_b;
  logic [31:0] exponent_a, exponent_b;
  logic [MAN_W:0] significand_a, significand_b;
  logic [W-1:0] x, y, magnitude;
  logic sign;
  logic [EXP_W+MAN_W:0] rounded;
  logic [4:0] flags;

  fp_spec_class #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_a (
    a_i, sign_a, exponent_a, significand_a, zero_a, inf_a, nan_a, signaling_a
  );
  fp_spec_class #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_b (
    b_i, sign_b, exponent_b, significand_b, zero_b, inf_b, nan_b, signaling_b
  );

  assign x = W'(significand_a) << exponent_a;
  assign y = W'(significand_b) << exponent_b;
  assign magnitude = sign_a == sign_b ? x + y : x > y ? x - y : y - x;
  assign sign = x > y ? sign_a : sign_b;

  // A significand's leading one, shifted by its exponent, is at bit exponent + MAN_W.
  fp_spec_round #(.EXP_W(EXP_W), .MAN_W(MAN_W), .W(W)) u_round (
    sign, magnitude, -MAN_W, rounded, flags
  );

  always_comb begin
    flags_o = '0;
    if (nan_a || nan_b) begin
      y_o = NAN;
      flags_o[4] = signaling_a || signaling_b;
    end else if (inf_a && inf_b && sign_a != sign_b) begin
      y_o = NAN;
      flags_o[4] = 1'b1;
    end else if (inf_a) begin
      y_o = a_i;
    end else if (inf_b) begin
      y_o = b_i;
    end else if (magnitude == '0) begin
      y_o = {zero_a && zero_b && sign_a && sign_b, {(EXP_W + MAN_W) {1'b0}}};
    end else begin
      y_o = rounded;
      flags_o = flags;
    end
  end

endmodule

// Product.
module fp_spec_mul #(
  parameter int EXP_W = 4,
  parameter int MAN_W = 3
) (
  input  logic [EXP_W+MAN_W:0] a_i,
  input  logic [EXP_W+MAN_W:0] b_i,
  output logic [EXP_W+MAN_W:0] y_o,
  output logic [4:0]           flags_o
);

  localparam int W = 2 * MAN_W + 3;
  localparam int BIAS = (1 << (EXP_W - 1)) - 1;
  localparam logic [EXP_W+MAN_W:0] NAN = {1'b0, {EXP_W{1'b1}}, 1'b1, {(MAN_W - 1) {1'b0}}};

  logic sign_a, sign_b, zero_a, zero_b, inf_a, inf_b, nan_a, nan_b, signaling_a, signaling_b;
  logic [31:0] exponent_a, exponent_b;
  logic [MAN_W:0] significand_a, significand_b;
  logic [W-1:0] magnitude;
  logic sign;
  logic [EXP_W+MAN_W:0] rounded;
  logic [4:0] flags;

  fp_spec_class #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_a (
    a_i, sign_a, exponent_a, significand_a, zero_a, inf_a, nan_a, signaling_a
  );
  fp_spec_class #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_b (
    b_i, sign_b, exponent_b, significand_b, zero_b, inf_b, nan_b, signaling_b
  );

  assign sign = sign_a ^ sign_b;
  assign magnitude = W'(significand_a) * W'(significand_b);

  // 1.0 * 1.0 has its leading one at bit 2 MAN_W, and the exponent exponent_a + exponent_b - BIAS.
  fp_spec_round #(.EXP_W(EXP_W), .MAN_W(MAN_W), .W(W)) u_round (
    sign, magnitude, exponent_a + exponent_b - BIAS - 2 * MAN_W, rounded, flags
  );

  always_comb begin
    flags_o = '0;
    if (nan_a || nan_b) begin
      y_o = NAN;
      flags_o[4] = signaling_a || signaling_b;
    end else if ((inf_a && zero_b) || (zero_a && inf_b)) begin
      y_o = NAN;
      flags_o[4] = 1'b1;
    end else if (inf_a || inf_b) begin
      y_o = {sign, {EXP_W{1'b1}}, {MAN_W{1'b0}}};
    end else if (zero_a || zero_b) begin
      y_o = {sign, {(EXP_W + MAN_W) {1'b0}}};
    end else begin
      y_o = rounded;
      flags_o = flags;
    end
  end

endmodule

// Reciprocal, by an integer division with so many places that the remainder is the sticky bit.
module fp_spec_recip #(
  parameter int EXP_W = 4,
  parameter int MAN_W = 3
) (
  input  logic [EXP_W+MAN_W:0] a_i,
  output logic [EXP_W+MAN_W:0] y_o,
  output logic [4:0]           flags_o
);

  localparam int PLACES = 2 * MAN_W + 3;  // dividend 2^PLACES
  localparam int W = PLACES + 1;
  localparam int BIAS = (1 << (EXP_W - 1)) - 1;
  localparam logic [EXP_W+MAN_W:0] NAN = {1'b0, {EXP_W{1'b1}}, 1'b1, {(MAN_W - 1) {1'b0}}};

  logic sign, zero, infinite, nan, signaling;
  logic [31:0] exponent;
  logic [MAN_W:0] significand;
  logic [W-1:0] divisor, quotient, remainder;
  logic [EXP_W+MAN_W:0] rounded;
  logic [4:0] flags;

  fp_spec_class #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_a (
    a_i, sign, exponent, significand, zero, infinite, nan, signaling
  );

  assign divisor = zero ? W'(1) : W'(significand);
  assign quotient = {1'b1, {PLACES{1'b0}}} / divisor;
  assign remainder = {1'b1, {PLACES{1'b0}}} - quotient * divisor;

  // That of 1.0 has its leading one at bit PLACES - MAN_W, before the sticky bit is appended, and
  // the exponent 2 BIAS - exponent.
  fp_spec_round #(.EXP_W(EXP_W), .MAN_W(MAN_W), .W(W + 1)) u_round (
    sign, {quotient, remainder != '0}, 2 * BIAS - exponent - (PLACES - MAN_W + 1), rounded, flags
  );

  always_comb begin
    flags_o = '0;
    if (nan) begin
      y_o = NAN;
      flags_o[4] = signaling;
    end else if (infinite) begin
      y_o = {sign, {(EXP_W + MAN_W) {1'b0}}};
    end else if (zero) begin
      y_o = {sign, {EXP_W{1'b1}}, {MAN_W{1'b0}}};
      flags_o[3] = 1'b1;
    end else begin
      y_o = rounded;
      flags_o = flags;
    end
  end

endmodule
