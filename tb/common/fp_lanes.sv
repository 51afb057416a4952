// Copies of one float unit side by side, with every number of register stages, so that one access
// from Python moves many operands, those of STEPS clocks.
//
// With several STEPS they stand in gen_steps, those of the first step lowest, where Python writes
// and reads them: as ports they would be copied in every clock. After start_i step 0 is the first;
// each step lasts from one rising edge to the next, and its results are those before the edge that
// ends it.
//
// Latency: lane i has i % (MAX_STAGES + 1) stages. Throughput: one operation a clock and lane.

module fp_lanes #(
  parameter int UNIT = fp_pkg::UNIT_ADD,  // those without a second operand leave b_i open
  parameter int LANES = 63,
  parameter int STEPS = 1,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int MAX_STAGES = fp_pkg::MAX_STAGES,
  parameter bit SPECIALS = 1'b1,  // of fp_mul
  parameter int DSP_W = fp_pkg::DSP_W,  // of all but fp_add
  parameter bit LOGIC = 1'b0,  // of fp_sincos, where a lane's stages leave a choice
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic                    clk_i,
  input  logic                    start_i,
  input  logic [LANES-1:0][W-1:0] a_i,
  input  logic [LANES-1:0][W-1:0] b_i,
  output logic [LANES-1:0][W-1:0] y_o,
  // The cosine of fp_sincos; the reciprocal by the table of fp_recip, where there is one; or zero.
  output logic [LANES-1:0][W-1:0]               z_o,
  output logic [LANES-1:0][fp_pkg::FLAGS_W-1:0] flags_o
);

  logic [LANES-1:0][W-1:0] now_a, now_b;

  if (STEPS > 1) begin : gen_steps
    localparam int STEP_W = $clog2(STEPS);
    logic [STEP_W-1:0] step_q;
    logic [STEPS*LANES-1:0][W-1:0] a /* verilator public_flat_rw */;
    logic [STEPS*LANES-1:0][W-1:0] b /* verilator public_flat_rw */;
    logic [STEPS*LANES-1:0][W-1:0] y /* verilator public_flat_rd */;
    logic [STEPS*LANES-1:0][W-1:0] z /* verilator public_flat_rd */;
    logic [STEPS*LANES-1:0][fp_pkg::FLAGS_W-1:0] flags /* verilator public_flat_rd */;
    always_ff @(posedge clk_i) begin
      step_q <= start_i || step_q == STEP_W'(STEPS - 1) ? '0 : step_q + 1'b1;
    end
    // Not delayed, which would copy all steps; nothing else reads them.
    // verilator lint_off BLKSEQ
    // verilog_lint: waive-start always-ff-non-blocking
    always_ff @(posedge clk_i) begin
      y[step_q*LANES+:LANES] = y_o;
      z[step_q*LANES+:LANES] = z_o;
      flags[step_q*LANES+:LANES] = flags_o;
    end
    // verilog_lint: waive-stop always-ff-non-blocking
    // verilator lint_on BLKSEQ
    assign now_a = a[step_q*LANES+:LANES];
    assign now_b = b[step_q*LANES+:LANES];
  end else begin : gen_step
    assign now_a = a_i;
    assign now_b = b_i;
  end

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    localparam int STAGES = i % (MAX_STAGES + 1);
    logic [W-1:0] a, b, y, z;
    logic [fp_pkg::FLAGS_W-1:0] flags;
    assign a = now_a[i];
    assign b = now_b[i];
    assign y_o[i] = y;
    assign z_o[i] = z;
    assign flags_o[i] = flags;
    if (UNIT == fp_pkg::UNIT_ADD) begin : gen_add
      fp_add #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES)) u_dut (
        .clk_i, .a_i(a), .b_i(b), .y_o(y), .flags_o(flags)
      );
    end else if (UNIT == fp_pkg::UNIT_MUL) begin : gen_mul
      fp_mul #(
        .EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES), .SPECIALS(SPECIALS), .DSP_W(DSP_W)
      ) u_dut (
        .clk_i, .a_i(a), .b_i(b), .y_o(y), .flags_o(flags)
      );
    end else if (UNIT == fp_pkg::UNIT_RECIP) begin : gen_recip
      localparam bit TABLE =
          MAN_W <= fp_pkg::RECIP_TABLE_MAX_MAN_W && STAGES <= fp_pkg::RECIP_MAX_STAGES;
      logic [fp_pkg::FLAGS_W-1:0] own_flags, table_flags;
      fp_recip #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(STAGES),
        .DSP_W(DSP_W)
      ) u_dut (
        .clk_i, .a_i(a), .y_o(y), .flags_o(own_flags)
      );
      fp_recip #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(STAGES),
        .METHOD(TABLE ? fp_pkg::RECIP_TABLE : fp_pkg::RECIP_ARRAY),
        .DSP_W(DSP_W)
      ) u_table (
        .clk_i, .a_i(a), .y_o(z), .flags_o(table_flags)
      );
      // Flags that differ show as all of them, which no operation raises.
      assign flags = own_flags == table_flags ? own_flags : '1;
    end else begin : gen_sincos
      fp_sincos #(
        .EXP_W(EXP_W),
        .MAN_W(MAN_W),
        .STAGES(STAGES),
        .LOGIC(LOGIC || STAGES > fp_pkg::MAX_SINCOS_STAGES),
        .DSP_W(DSP_W)
      ) u_dut (
        .clk_i, .a_i(a), .sin_o(y), .cos_o(z), .flags_o(flags)
      );
    end
    if (UNIT == fp_pkg::UNIT_ADD || UNIT == fp_pkg::UNIT_MUL) begin : gen_no_second_result
      assign z = '0;
    end
  end

endmodule
