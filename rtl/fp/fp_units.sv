// A row of equal float units, the resources that an algorithm module links to through its ports:
// N adders (UNIT = fp_pkg::UNIT_ADD) or N multipliers (fp_pkg::UNIT_MUL), unit 0 in the lowest
// word of each port. `flags_o` is the OR of all units' flags.
//
// Built as a tree, halves joined by one concatenation each: Icarus evaluates that many times
// faster than a wide vector that every unit drives a part of.
//
// Latency: STAGES clocks. Throughput: one operation a clock and unit.

module fp_units #(
  parameter int UNIT = fp_pkg::UNIT_ADD,
  parameter int N = 1,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic                       clk_i,
  input  logic [N*W-1:0]             a_i,
  input  logic [N*W-1:0]             b_i,
  output logic [N*W-1:0]             y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  if (N < 1 || (UNIT != fp_pkg::UNIT_ADD && UNIT != fp_pkg::UNIT_MUL)) begin : gen_check
    initial $fatal(1, "%m: N %0d must be at least 1, UNIT %0d one of fp_pkg", N, UNIT);
  end

  if (N > 1) begin : gen_halves
    localparam int LOW = N / 2;
    localparam int HIGH = N - LOW;
    logic [LOW*W-1:0] y_low;
    logic [HIGH*W-1:0] y_high;
    logic [fp_pkg::FLAGS_W-1:0] flags_low, flags_high;
    fp_units #(
      .UNIT(UNIT),
      .N(LOW),
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .STAGES(STAGES)
    ) u_low (
      .clk_i,
      .a_i(a_i[0+:LOW*W]),
      .b_i(b_i[0+:LOW*W]),
      .y_o(y_low),
      .flags_o(flags_low)
    );
    fp_units #(
      .UNIT(UNIT),
      .N(HIGH),
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .STAGES(STAGES)
    ) u_high (
      .clk_i,
      .a_i(a_i[LOW*W+:HIGH*W]),
      .b_i(b_i[LOW*W+:HIGH*W]),
      .y_o(y_high),
      .flags_o(flags_high)
    );
    assign y_o = {y_high, y_low};
    assign flags_o = flags_high | flags_low;
  end else if (UNIT == fp_pkg::UNIT_MUL) begin : gen_mul
    fp_mul #(
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .STAGES(STAGES)
    ) u_unit (
      .clk_i,
      .a_i,
      .b_i,
      .y_o,
      .flags_o
    );
  end else begin : gen_add
    fp_add #(
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .STAGES(STAGES)
    ) u_unit (
      .clk_i,
      .a_i,
      .b_i,
      .y_o,
      .flags_o
    );
  end

endmodule
