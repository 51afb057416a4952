// HDCA engine: the assembly and disassembly phases, their pool of float units, and the state
// machine of the paper's figure 4 with the commands run and reset.
//
//   IDLE --run--> BUSY --done--> READ --run--> BUSY ...        reset (rst_ni): IDLE from anywhere
//   READ --clear--> IDLE
//
// `phase_i` chooses what a run does: PHASE_ASSEMBLY or PHASE_DISASSEMBLY (of the joint that the
// last assembly eliminated). A run while busy does nothing. Operands must be held while `busy_o`.
// `done_o` pulses in the last busy cycle; `singular_o` and `flags_o` are valid one cycle later,
// when `read_o` rises, and belong to the run that ended.
//
// Latency: 1 cycle + that of the phase (see hdca_assembly, hdca_disassembly).
// Throughput: one run a latency.

module hdca_engine
  import hdca_pkg::*;
#(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int PASSES = 2,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic run_i,
  input  logic phase_i,
  input  logic clear_i,
  output logic idle_o,
  output logic busy_o,
  output logic read_o,
  output logic done_o,

  input  logic [COEFF_WORDS*W-1:0]   body_a_i,
  input  logic [COEFF_WORDS*W-1:0]   body_b_i,
  output logic [COEFF_WORDS*W-1:0]   compound_o,
  output logic [WEIGHT_WORDS*W-1:0]  weight_a_o,
  output logic [WEIGHT_WORDS*W-1:0]  weight_b_o,
  output logic [IMPULSE_WORDS*W-1:0] beta_hat_o,
  input  logic [IMPULSE_WORDS*W-1:0] t_1c_i,
  input  logic [IMPULSE_WORDS*W-1:0] t_2c_i,
  output logic [IMPULSE_WORDS*W-1:0] t_1b_o,
  output logic                       singular_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int ASM_MUL = assembly_mul(PASSES);
  localparam int ASM_ADD = assembly_add(PASSES);

  // ---------------------------------------------------------------------------------------------
  // State
  // ---------------------------------------------------------------------------------------------
  logic assembly_start, assembly_busy, assembly_done, assembly_singular;
  logic disassembly_start, disassembly_busy, disassembly_done;
  logic [fp_pkg::FLAGS_W-1:0] assembly_flags, disassembly_flags;
  logic read_q, phase_q;

  assign assembly_start = run_i && !busy_o && phase_i == PHASE_ASSEMBLY;
  assign disassembly_start = run_i && !busy_o && phase_i == PHASE_DISASSEMBLY;
  assign busy_o = assembly_busy | disassembly_busy;
  assign done_o = assembly_done | disassembly_done;
  assign read_o = read_q;
  assign idle_o = !busy_o && !read_q;
  assign singular_o = phase_q == PHASE_ASSEMBLY && assembly_singular;
  assign flags_o = phase_q == PHASE_ASSEMBLY ? assembly_flags : disassembly_flags;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q <= 1'b0;
      phase_q <= PHASE_ASSEMBLY;
    end else begin
      read_q <= done_o || (read_q && !clear_i && !run_i);
      if (run_i && !busy_o) begin
        phase_q <= phase_i;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Float units: those that the two passes of the assembly share, and those of the disassembly
  // ---------------------------------------------------------------------------------------------
  logic [ASM_MUL*W-1:0] asm_mul_a, asm_mul_b, asm_mul_y;
  logic [ASM_ADD*W-1:0] asm_add_a, asm_add_b, asm_add_y;
  logic [DISASSEMBLE_MUL*W-1:0] dis_mul_a, dis_mul_b, dis_mul_y;
  logic [DISASSEMBLE_ADD*W-1:0] dis_add_a, dis_add_b, dis_add_y;
  logic [W-1:0] rec_a, rec_y;
  logic [fp_pkg::FLAGS_W-1:0] asm_mul_flags, asm_add_flags, dis_mul_flags, dis_add_flags, rec_flags;

  fp_units #(
    .UNIT(fp_pkg::UNIT_MUL),
    .N(ASM_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(MUL_STAGES)
  ) u_asm_mul (
    .clk_i,
    .a_i(asm_mul_a),
    .b_i(asm_mul_b),
    .y_o(asm_mul_y),
    .flags_o(asm_mul_flags)
  );

  fp_units #(
    .UNIT(fp_pkg::UNIT_ADD),
    .N(ASM_ADD),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(ADD_STAGES)
  ) u_asm_add (
    .clk_i,
    .a_i(asm_add_a),
    .b_i(asm_add_b),
    .y_o(asm_add_y),
    .flags_o(asm_add_flags)
  );

  fp_units #(
    .UNIT(fp_pkg::UNIT_MUL),
    .N(DISASSEMBLE_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(MUL_STAGES)
  ) u_dis_mul (
    .clk_i,
    .a_i(dis_mul_a),
    .b_i(dis_mul_b),
    .y_o(dis_mul_y),
    .flags_o(dis_mul_flags)
  );

  fp_units #(
    .UNIT(fp_pkg::UNIT_ADD),
    .N(DISASSEMBLE_ADD),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(ADD_STAGES)
  ) u_dis_add (
    .clk_i,
    .a_i(dis_add_a),
    .b_i(dis_add_b),
    .y_o(dis_add_y),
    .flags_o(dis_add_flags)
  );

  fp_recip #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(REC_STAGES)
  ) u_rec (
    .clk_i,
    .a_i(rec_a),
    .y_o(rec_y),
    .flags_o(rec_flags)
  );

  // ---------------------------------------------------------------------------------------------
  // Phases
  // ---------------------------------------------------------------------------------------------
  hdca_assembly #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .PASSES(PASSES),
    .ADD_STAGES(ADD_STAGES),
    .MUL_STAGES(MUL_STAGES),
    .REC_STAGES(REC_STAGES)
  ) u_assembly (
    .clk_i,
    .rst_ni,
    .start_i(assembly_start),
    .busy_o(assembly_busy),
    .done_o(assembly_done),
    .body_a_i,
    .body_b_i,
    .compound_o,
    .weight_a_o,
    .weight_b_o,
    .beta_hat_o,
    .singular_o(assembly_singular),
    .flags_o(assembly_flags),
    .mul_a_o(asm_mul_a),
    .mul_b_o(asm_mul_b),
    .mul_y_i(asm_mul_y),
    .mul_flags_i(asm_mul_flags),
    .add_a_o(asm_add_a),
    .add_b_o(asm_add_b),
    .add_y_i(asm_add_y),
    .add_flags_i(asm_add_flags),
    .rec_a_o(rec_a),
    .rec_y_i(rec_y),
    .rec_flags_i(rec_flags)
  );

  hdca_disassembly #(
    .W(W),
    .ADD_STAGES(ADD_STAGES),
    .MUL_STAGES(MUL_STAGES)
  ) u_disassembly (
    .clk_i,
    .rst_ni,
    .start_i(disassembly_start),
    .busy_o(disassembly_busy),
    .done_o(disassembly_done),
    .weight_a_i(weight_a_o),
    .weight_b_i(weight_b_o),
    .beta_hat_i(beta_hat_o),
    .t_1c_i,
    .t_2c_i,
    .t_1b_o,
    .flags_o(disassembly_flags),
    .mul_a_o(dis_mul_a),
    .mul_b_o(dis_mul_b),
    .mul_y_i(dis_mul_y),
    .mul_flags_i(dis_mul_flags),
    .add_a_o(dis_add_a),
    .add_b_o(dis_add_b),
    .add_y_i(dis_add_y),
    .add_flags_i(dis_add_flags)
  );

endmodule
