// A float unit gives what a reference gives for the operands STAGES clocks ago. The reference is
// the plain specification (fp_spec), or with COMBINATIONAL the unit itself without registers.
//
// Registers start with any content, and operands are free in every step. So the first result that
// can be due stands for all, and STAGES + 1 steps of bounded checking are complete.

module fp_formal #(
  parameter int UNIT = fp_pkg::UNIT_ADD,
  parameter int EXP_W = 4,
  parameter int MAN_W = 3,
  parameter int STAGES = 0,
  parameter int METHOD = fp_pkg::RECIP_ARRAY,
  parameter int DSP_W = fp_pkg::DSP_W,
  parameter bit COMBINATIONAL = 1'b0
) (
  input logic                 clk_i,
  input logic [EXP_W+MAN_W:0] a_i,
  input logic [EXP_W+MAN_W:0] b_i
);

  localparam int W = 1 + EXP_W + MAN_W;

  logic [W-1:0] a, b, y, expected_y;
  logic [fp_pkg::FLAGS_W-1:0] flags, expected_flags;

  // The operands of the first step, until their result is due
  logic [4:0] age_q = '0;
  logic [2*W-1:0] operands_q;
  logic due;

  always_ff @(posedge clk_i) begin
    age_q <= age_q == '1 ? age_q : age_q + 1'b1;
    if (age_q == '0) begin
      operands_q <= {a_i, b_i};
    end
  end

  assign {a, b} = age_q == '0 ? {a_i, b_i} : operands_q;
  assign due = age_q == 5'(STAGES);

  if (UNIT == fp_pkg::UNIT_ADD) begin : gen_add
    fp_add #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES)) u_dut (
      .clk_i, .a_i, .b_i, .y_o(y), .flags_o(flags)
    );
    if (COMBINATIONAL) begin : gen_reference
      fp_add #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_reference (
        .clk_i, .a_i(a), .b_i(b), .y_o(expected_y), .flags_o(expected_flags)
      );
    end else begin : gen_spec
      fp_spec_add #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_spec (
        .a_i(a), .b_i(b), .y_o(expected_y), .flags_o(expected_flags)
      );
    end
  end else if (UNIT == fp_pkg::UNIT_MUL) begin : gen_mul
    fp_mul #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES), .DSP_W(DSP_W)) u_dut (
      .clk_i, .a_i, .b_i, .y_o(y), .flags_o(flags)
    );
    if (COMBINATIONAL) begin : gen_reference
      fp_mul #(.EXP_W(EXP_W), .MAN_W(MAN_W), .DSP_W(DSP_W)) u_reference (
        .clk_i, .a_i(a), .b_i(b), .y_o(expected_y), .flags_o(expected_flags)
      );
    end else begin : gen_spec
      fp_spec_mul #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_spec (
        .a_i(a), .b_i(b), .y_o(expected_y), .flags_o(expected_flags)
      );
    end
  end else begin : gen_recip
    fp_recip #(
      .EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES), .METHOD(METHOD), .DSP_W(DSP_W)
    ) u_dut (
      .clk_i, .a_i, .y_o(y), .flags_o(flags)
    );
    if (COMBINATIONAL) begin : gen_reference
      fp_recip #(.EXP_W(EXP_W), .MAN_W(MAN_W), .METHOD(METHOD), .DSP_W(DSP_W)) u_reference (
        .clk_i, .a_i(a), .y_o(expected_y), .flags_o(expected_flags)
      );
    end else begin : gen_spec
      fp_spec_recip #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_spec (
        .a_i(a), .y_o(expected_y), .flags_o(expected_flags)
      );
    end
  end

  always_comb begin
    if (due) begin
      result: assert (y == expected_y);
      flags_of_result: assert (flags == expected_flags);
    end
  end

endmodule
