// Layout of a body's coefficients, and the float operations of each HDCA sub-design.
//
// A body (or compound body) has COEFF_WORDS float words: xi_11, xi_12, xi_22 (3x3, row by row),
// xi_10, xi_20 (3). xi_21 is the transpose of xi_12. Every vector of words holds word 0 lowest.
//
// The operation counts are those of pymodel.algorithms.two_handles.SUBDESIGNS, as a test checks.

package hdca_pkg;

  // What a run of the engine does
  localparam logic PHASE_ASSEMBLY = 1'b0;
  localparam logic PHASE_DISASSEMBLY = 1'b1;

  // Words of a 3x3 matrix, of its upper triangle, of a 3-vector
  localparam int MATRIX_WORDS = 9;
  localparam int UPPER_WORDS = 6;
  localparam int VECTOR_WORDS = 3;

  // Word offsets in a body
  localparam int XI_11 = 0;
  localparam int XI_12 = 9;
  localparam int XI_22 = 18;
  localparam int XI_10 = 27;
  localparam int XI_20 = 30;
  localparam int COEFF_WORDS = 33;

  // Word counts of what joins two bodies: W^A and W^B are 2x3, beta_hat is a 2-vector
  localparam int WEIGHT_WORDS = 6;
  localparam int IMPULSE_WORDS = 2;

  // Multiplications and additions of each sub-design
  localparam int JOINT_INVERSE_MUL = 6;
  localparam int JOINT_INVERSE_ADD = 5;
  localparam int RELATIVE_BIAS_ADD = 2;
  localparam int WEIGHT_A_MUL = 12;
  localparam int WEIGHT_A_ADD = 6;
  localparam int WEIGHT_B_MUL = 12;
  localparam int WEIGHT_B_ADD = 6;
  localparam int JOINT_BIAS_MUL = 4;
  localparam int JOINT_BIAS_ADD = 2;
  localparam int COMPOUND_XI_10_MUL = 6;
  localparam int COMPOUND_XI_10_ADD = 6;
  localparam int COMPOUND_XI_20_MUL = 6;
  localparam int COMPOUND_XI_20_ADD = 6;
  localparam int COMPOUND_XI_11_MUL = 12;
  localparam int COMPOUND_XI_11_ADD = 12;
  localparam int COMPOUND_XI_12_MUL = 18;
  localparam int COMPOUND_XI_12_ADD = 9;
  localparam int COMPOUND_XI_22_MUL = 12;
  localparam int COMPOUND_XI_22_ADD = 12;
  localparam int DISASSEMBLE_MUL = 8;
  localparam int DISASSEMBLE_ADD = 8;

  // Pass 1 and pass 2 of the assembly; the disassembly has units of its own, always connected
  localparam int PASS_1_MUL = JOINT_INVERSE_MUL + WEIGHT_A_MUL + WEIGHT_B_MUL + JOINT_BIAS_MUL
                            + COMPOUND_XI_10_MUL + COMPOUND_XI_20_MUL;
  localparam int PASS_1_ADD = JOINT_INVERSE_ADD + RELATIVE_BIAS_ADD + WEIGHT_A_ADD + WEIGHT_B_ADD
                            + JOINT_BIAS_ADD + COMPOUND_XI_10_ADD + COMPOUND_XI_20_ADD;
  localparam int PASS_2_MUL = COMPOUND_XI_11_MUL + COMPOUND_XI_12_MUL + COMPOUND_XI_22_MUL;
  localparam int PASS_2_ADD = COMPOUND_XI_11_ADD + COMPOUND_XI_12_ADD + COMPOUND_XI_22_ADD;

  // Units that the assembly needs: shared between two passes, or all at once
  function automatic int assembly_mul(input int passes);
    int larger;
    larger = PASS_1_MUL > PASS_2_MUL ? PASS_1_MUL : PASS_2_MUL;
    return passes == 1 ? PASS_1_MUL + PASS_2_MUL : larger;
  endfunction

  function automatic int assembly_add(input int passes);
    int larger;
    larger = PASS_1_ADD > PASS_2_ADD ? PASS_1_ADD : PASS_2_ADD;
    return passes == 1 ? PASS_1_ADD + PASS_2_ADD : larger;
  endfunction

endpackage
