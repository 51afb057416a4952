// Copies of one float unit side by side, with every number of register stages, so that one access
// from Python moves many operands.
//
// Latency: lane i has i % (MAX_STAGES + 1) stages. Throughput: one operation a clock and lane.

module fp_lanes #(
  parameter int UNIT = fp_pkg::UNIT_ADD,  // those without a second operand leave b_i open
  parameter int LANES = 63,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int MAX_STAGES = fp_pkg::MAX_STAGES,
  parameter bit SPECIALS = 1'b1,  // of fp_mul
  parameter int DSP_W = fp_pkg::DSP_W,  // of all but fp_add
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic                    clk_i,
  input  logic [LANES-1:0][W-1:0] a_i,
  input  logic [LANES-1:0][W-1:0] b_i,
  output logic [LANES-1:0][W-1:0] y_o,
  // The cosine of fp_sincos; the reciprocal by the table of fp_recip, where there is one; or zero.
  output logic [LANES-1:0][W-1:0]               z_o,
  output logic [LANES-1:0][fp_pkg::FLAGS_W-1:0] flags_o
);

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    localparam int STAGES = i % (MAX_STAGES + 1);
    if (UNIT == fp_pkg::UNIT_ADD) begin : gen_add
      fp_add #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES)) u_dut (
        .clk_i, .a_i(a_i[i]), .b_i(b_i[i]), .y_o(y_o[i]), .flags_o(flags_o[i])
      );
    end else if (UNIT == fp_pkg::UNIT_MUL) begin : gen_mul
      fp_mul #(
        .EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES), .SPECIALS(SPECIALS), .DSP_W(DSP_W)
      ) u_dut (
        .clk_i, .a_i(a_i[i]), .b_i(b_i[i]), .y_o(y_o[i]), .flags_o(flags_o[i])
      );
    end else if (UNIT == fp_pkg::UNIT_RECIP) begin : gen_recip
      localparam bit TABLE = MAN_W <= fp_pkg::RECIP_TABLE_MAX_MAN_W;
      logic [fp_pkg::FLAGS_W-1:0] flags, table_flags;
      fp_recip #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(STAGES),
        .DSP_W(DSP_W)
      ) u_dut (
        .clk_i, .a_i(a_i[i]), .y_o(y_o[i]), .flags_o(flags)
      );
      fp_recip #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(STAGES),
        .METHOD(TABLE ? fp_pkg::RECIP_TABLE : fp_pkg::RECIP_ARRAY),
        .DSP_W(DSP_W)
      ) u_table (
        .clk_i, .a_i(a_i[i]), .y_o(z_o[i]), .flags_o(table_flags)
      );
      // Flags that differ show as all of them, which no operation raises.
      assign flags_o[i] = flags == table_flags ? flags : '1;
    end else begin : gen_sincos
      fp_sincos #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES), .DSP_W(DSP_W)) u_dut (
        .clk_i, .a_i(a_i[i]), .sin_o(y_o[i]), .cos_o(z_o[i]), .flags_o(flags_o[i])
      );
    end
    if (UNIT == fp_pkg::UNIT_ADD || UNIT == fp_pkg::UNIT_MUL) begin : gen_no_second_result
      assign z_o[i] = '0;
    end
  end

endmodule
