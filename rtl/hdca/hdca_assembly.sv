// Assembly phase of two bodies A and B into the compound body C, paper 000 (27)-(37), on float
// units linked from outside (section 4.5). Mirrors pymodel.algorithms.two_handles.assemble
// operation by operation.
//
// The ten sub-designs run in two passes that share the units, PASSES = 2:
//   pass 1: (33) C, (34) b, (35) W^A, (36) W^B, (37) beta_hat, (31) xi_10, (32) xi_20
//   pass 2: (27) xi_11, (28) xi_12 (its transpose is (29)), (30) xi_22
// or all at once on units of their own, PASSES = 1. Both give the same bits.
//
// A `start_i` pulse begins; bodies must be held while `busy_o`. `done_o` pulses in the last cycle
// of `busy_o`; results, singular and flags are valid after it and hold until the next run or reset.
// `flags_o` are the flags of this run (fp_pkg order); `singular_o`: the matrix in (33) has
// determinant zero or not finite, or a non-finite inverse.
//
// Latency: pass 1 takes 5 ADD + 4 MUL + REC + 1 busy cycles, pass 2 takes 2 ADD + MUL + 1, in
// units' STAGES. Throughput: one assembly every latency + 1 cycles, as a start in the last busy
// cycle does nothing.

module hdca_assembly
  import hdca_pkg::*;
#(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int PASSES = 2,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int NUM_MUL = assembly_mul(PASSES),
  localparam int NUM_ADD = assembly_add(PASSES)
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  output logic busy_o,
  output logic done_o,

  input  logic [COEFF_WORDS*W-1:0]   body_a_i,
  input  logic [COEFF_WORDS*W-1:0]   body_b_i,
  output logic [COEFF_WORDS*W-1:0]   compound_o,
  output logic [WEIGHT_WORDS*W-1:0]  weight_a_o,
  output logic [WEIGHT_WORDS*W-1:0]  weight_b_o,
  output logic [IMPULSE_WORDS*W-1:0] beta_hat_o,
  output logic                       singular_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o,

  output logic [NUM_MUL*W-1:0]       mul_a_o,
  output logic [NUM_MUL*W-1:0]       mul_b_o,
  input  logic [NUM_MUL*W-1:0]       mul_y_i,
  input  logic [fp_pkg::FLAGS_W-1:0] mul_flags_i,
  output logic [NUM_ADD*W-1:0]       add_a_o,
  output logic [NUM_ADD*W-1:0]       add_b_o,
  input  logic [NUM_ADD*W-1:0]       add_y_i,
  input  logic [fp_pkg::FLAGS_W-1:0] add_flags_i,
  output logic [W-1:0]               rec_a_o,
  input  logic [W-1:0]               rec_y_i,
  input  logic [fp_pkg::FLAGS_W-1:0] rec_flags_i
);

  if (PASSES != 1 && PASSES != 2) begin : gen_check_passes
    initial $fatal(1, "%m: PASSES must be 1 or 2, got %0d", PASSES);
  end

  localparam int PASS_1_LATENCY = 5 * ADD_STAGES + 4 * MUL_STAGES + REC_STAGES;
  localparam int PASS_2_LATENCY = 2 * ADD_STAGES + MUL_STAGES;
  localparam int COUNT_W = $clog2(PASS_1_LATENCY + 1) + 1;
  localparam logic [W-1:0] SIGN = {1'b1, {(W - 1) {1'b0}}};

  // ---------------------------------------------------------------------------------------------
  // Operands: D selects rows and columns 0, 1
  // ---------------------------------------------------------------------------------------------
  logic [MATRIX_WORDS*W-1:0] a_xi_11, a_xi_12, a_xi_22, b_xi_11, b_xi_12, b_xi_22;
  logic [VECTOR_WORDS*W-1:0] a_xi_10, a_xi_20, b_xi_10, b_xi_20;
  assign {a_xi_20, a_xi_10, a_xi_22, a_xi_12, a_xi_11} = body_a_i;
  assign {b_xi_20, b_xi_10, b_xi_22, b_xi_12, b_xi_11} = body_b_i;

  // xi_12^A D by columns, D^T xi_12^B by rows
  logic [VECTOR_WORDS*W-1:0] a_column_0, a_column_1, b_row_0, b_row_1;
  assign a_column_0 = {a_xi_12[6*W+:W], a_xi_12[3*W+:W], a_xi_12[0*W+:W]};
  assign a_column_1 = {a_xi_12[7*W+:W], a_xi_12[4*W+:W], a_xi_12[1*W+:W]};
  assign b_row_0 = b_xi_12[0*W+:3*W];
  assign b_row_1 = b_xi_12[3*W+:3*W];

  // Of each body the algorithm reads only D^T xi D of the matrices at the joint, and the upper
  // triangle of those at the outer handles.
  logic unused;
  assign unused = &{1'b0, a_xi_11, a_xi_12, a_xi_22, a_xi_20, b_xi_11, b_xi_12, b_xi_22, b_xi_10};

  // Upper triangle of a 3x3 matrix row by row, and the symmetric matrix from it
  function automatic logic [UPPER_WORDS*W-1:0] upper(input logic [MATRIX_WORDS*W-1:0] m);
    return {m[8*W+:W], m[5*W+:W], m[4*W+:W], m[0*W+:3*W]};
  endfunction

  function automatic logic [MATRIX_WORDS*W-1:0] symmetric(input logic [UPPER_WORDS*W-1:0] u);
    return {u[5*W+:W], u[4*W+:W], u[2*W+:W], u[4*W+:W], u[3*W+:W], u[1*W+:W], u[0*W+:3*W]};
  endfunction

  // For each entry (i, j) of an upper triangle: v[i], or v[j]
  function automatic logic [UPPER_WORDS*W-1:0] by_row(input logic [VECTOR_WORDS*W-1:0] v);
    return {v[2*W+:W], {2{v[1*W+:W]}}, {3{v[0*W+:W]}}};
  endfunction

  function automatic logic [UPPER_WORDS*W-1:0] by_column(input logic [VECTOR_WORDS*W-1:0] v);
    return {v[2*W+:W], v[1*W+:2*W], v[0*W+:3*W]};
  endfunction

  // For each entry (i, j) of a 3x3 matrix: v[i]
  function automatic logic [MATRIX_WORDS*W-1:0] by_row_of_3(input logic [VECTOR_WORDS*W-1:0] v);
    return {{3{v[2*W+:W]}}, {3{v[1*W+:W]}}, {3{v[0*W+:W]}}};
  endfunction

  // ---------------------------------------------------------------------------------------------
  // Pass 1
  // ---------------------------------------------------------------------------------------------
  // (33) C = -[D^T (xi_11^B + xi_22^A) D]^-1
  logic [JOINT_INVERSE_MUL*W-1:0] inverse_mul_a, inverse_mul_b, inverse_mul_y;
  logic [JOINT_INVERSE_ADD*W-1:0] inverse_add_a, inverse_add_b, inverse_add_y;
  logic [4*W-1:0] joint_matrix, joint_inverse;
  logic [W-1:0] c_00, c_01, c_10, c_11, det_add_a, det_add_b, det_add_y;
  logic singular;
  assign inverse_add_a = {det_add_a, b_xi_11[3*W+:2*W], b_xi_11[0*W+:2*W]};
  assign inverse_add_b = {det_add_b, a_xi_22[3*W+:2*W], a_xi_22[0*W+:2*W]};
  assign {det_add_y, joint_matrix} = inverse_add_y;
  inv_adjugate_2x2 #(
    .EXP_W(EXP_W),
    .MAN_W(MAN_W)
  ) u_joint_inverse (
    .a_i(joint_matrix),
    .y_o(joint_inverse),
    .singular_o(singular),
    .mul_a_o(inverse_mul_a),
    .mul_b_o(inverse_mul_b),
    .mul_y_i(inverse_mul_y),
    .add_a_o(det_add_a),
    .add_b_o(det_add_b),
    .add_y_i(det_add_y),
    .rec_a_o,
    .rec_y_i
  );
  assign {c_11, c_10, c_01, c_00} = joint_inverse ^ {4{SIGN}};

  // (34) b = D^T (xi_10^B - xi_20^A)
  logic [RELATIVE_BIAS_ADD*W-1:0] b_add_a, b_add_b, b_add_y;
  logic [W-1:0] b_0, b_1;
  assign b_add_a = b_xi_10[0+:2*W];
  assign b_add_b = a_xi_20[0+:2*W] ^ {2{SIGN}};
  assign {b_1, b_0} = b_add_y;

  // (35) W^A = C D^T xi_21^A
  logic [WEIGHT_WORDS*W-1:0] weight_a;
  logic [WEIGHT_A_MUL*W-1:0] wa_mul_a, wa_mul_b, wa_mul_y;
  logic [WEIGHT_A_ADD*W-1:0] wa_add_a, wa_add_b, wa_add_y;
  linked_dot #(
    .W(W),
    .N(WEIGHT_WORDS)
  ) u_weight_a (
    .a_0_i({{3{c_10}}, {3{c_00}}}),
    .b_0_i({2{a_column_0}}),
    .a_1_i({{3{c_11}}, {3{c_01}}}),
    .b_1_i({2{a_column_1}}),
    .addend_i({WEIGHT_WORDS * W{1'b0}}),
    .y_o(weight_a),
    .mul_a_o(wa_mul_a),
    .mul_b_o(wa_mul_b),
    .mul_y_i(wa_mul_y),
    .add_a_o(wa_add_a),
    .add_b_o(wa_add_b),
    .add_y_i(wa_add_y)
  );

  // (36) W^B = C D^T xi_12^B
  logic [WEIGHT_WORDS*W-1:0] weight_b;
  logic [WEIGHT_B_MUL*W-1:0] wb_mul_a, wb_mul_b, wb_mul_y;
  logic [WEIGHT_B_ADD*W-1:0] wb_add_a, wb_add_b, wb_add_y;
  linked_dot #(
    .W(W),
    .N(WEIGHT_WORDS)
  ) u_weight_b (
    .a_0_i({{3{c_10}}, {3{c_00}}}),
    .b_0_i({2{b_row_0}}),
    .a_1_i({{3{c_11}}, {3{c_01}}}),
    .b_1_i({2{b_row_1}}),
    .addend_i({WEIGHT_WORDS * W{1'b0}}),
    .y_o(weight_b),
    .mul_a_o(wb_mul_a),
    .mul_b_o(wb_mul_b),
    .mul_y_i(wb_mul_y),
    .add_a_o(wb_add_a),
    .add_b_o(wb_add_b),
    .add_y_i(wb_add_y)
  );

  // (37) beta_hat = C b
  logic [IMPULSE_WORDS*W-1:0] beta_hat;
  logic [JOINT_BIAS_MUL*W-1:0] beta_mul_a, beta_mul_b, beta_mul_y;
  logic [JOINT_BIAS_ADD*W-1:0] beta_add_a, beta_add_b, beta_add_y;
  linked_dot #(
    .W(W),
    .N(IMPULSE_WORDS)
  ) u_joint_bias (
    .a_0_i({c_10, c_00}),
    .b_0_i({2{b_0}}),
    .a_1_i({c_11, c_01}),
    .b_1_i({2{b_1}}),
    .addend_i({IMPULSE_WORDS * W{1'b0}}),
    .y_o(beta_hat),
    .mul_a_o(beta_mul_a),
    .mul_b_o(beta_mul_b),
    .mul_y_i(beta_mul_y),
    .add_a_o(beta_add_a),
    .add_b_o(beta_add_b),
    .add_y_i(beta_add_y)
  );

  // (31) xi_10^C = xi_10^A - xi_12^A D beta_hat
  logic [VECTOR_WORDS*W-1:0] xi_10;
  logic [COMPOUND_XI_10_MUL*W-1:0] xi_10_mul_a, xi_10_mul_b, xi_10_mul_y;
  logic [COMPOUND_XI_10_ADD*W-1:0] xi_10_add_a, xi_10_add_b, xi_10_add_y;
  linked_dot #(
    .W(W),
    .N(VECTOR_WORDS),
    .ADDEND(1),
    .NEGATE(1)
  ) u_compound_xi_10 (
    .a_0_i(a_column_0),
    .b_0_i({3{beta_hat[0*W+:W]}}),
    .a_1_i(a_column_1),
    .b_1_i({3{beta_hat[1*W+:W]}}),
    .addend_i(a_xi_10),
    .y_o(xi_10),
    .mul_a_o(xi_10_mul_a),
    .mul_b_o(xi_10_mul_b),
    .mul_y_i(xi_10_mul_y),
    .add_a_o(xi_10_add_a),
    .add_b_o(xi_10_add_b),
    .add_y_i(xi_10_add_y)
  );

  // (32) xi_20^C = xi_20^B + xi_21^B D beta_hat
  logic [VECTOR_WORDS*W-1:0] xi_20;
  logic [COMPOUND_XI_20_MUL*W-1:0] xi_20_mul_a, xi_20_mul_b, xi_20_mul_y;
  logic [COMPOUND_XI_20_ADD*W-1:0] xi_20_add_a, xi_20_add_b, xi_20_add_y;
  linked_dot #(
    .W(W),
    .N(VECTOR_WORDS),
    .ADDEND(1)
  ) u_compound_xi_20 (
    .a_0_i(b_row_0),
    .b_0_i({3{beta_hat[0*W+:W]}}),
    .a_1_i(b_row_1),
    .b_1_i({3{beta_hat[1*W+:W]}}),
    .addend_i(b_xi_20),
    .y_o(xi_20),
    .mul_a_o(xi_20_mul_a),
    .mul_b_o(xi_20_mul_b),
    .mul_y_i(xi_20_mul_y),
    .add_a_o(xi_20_add_a),
    .add_b_o(xi_20_add_b),
    .add_y_i(xi_20_add_y)
  );

  // ---------------------------------------------------------------------------------------------
  // Pass 2; its weights are those of pass 1, held (PASSES = 2) or as they come (PASSES = 1)
  // ---------------------------------------------------------------------------------------------
  logic [VECTOR_WORDS*W-1:0] wa_row_0, wa_row_1, wb_row_0, wb_row_1;
  assign {wa_row_1, wa_row_0} = PASSES == 1 ? weight_a : weight_a_o;
  assign {wb_row_1, wb_row_0} = PASSES == 1 ? weight_b : weight_b_o;

  // (27) xi_11^C = xi_11^A + xi_12^A D W^A
  logic [UPPER_WORDS*W-1:0] xi_11;
  logic [COMPOUND_XI_11_MUL*W-1:0] xi_11_mul_a, xi_11_mul_b, xi_11_mul_y;
  logic [COMPOUND_XI_11_ADD*W-1:0] xi_11_add_a, xi_11_add_b, xi_11_add_y;
  linked_dot #(
    .W(W),
    .N(UPPER_WORDS),
    .ADDEND(1)
  ) u_compound_xi_11 (
    .a_0_i(by_row(a_column_0)),
    .b_0_i(by_column(wa_row_0)),
    .a_1_i(by_row(a_column_1)),
    .b_1_i(by_column(wa_row_1)),
    .addend_i(upper(a_xi_11)),
    .y_o(xi_11),
    .mul_a_o(xi_11_mul_a),
    .mul_b_o(xi_11_mul_b),
    .mul_y_i(xi_11_mul_y),
    .add_a_o(xi_11_add_a),
    .add_b_o(xi_11_add_b),
    .add_y_i(xi_11_add_y)
  );

  // (28) xi_12^C = -xi_12^A D W^B
  logic [MATRIX_WORDS*W-1:0] xi_12;
  logic [COMPOUND_XI_12_MUL*W-1:0] xi_12_mul_a, xi_12_mul_b, xi_12_mul_y;
  logic [COMPOUND_XI_12_ADD*W-1:0] xi_12_add_a, xi_12_add_b, xi_12_add_y;
  linked_dot #(
    .W(W),
    .N(MATRIX_WORDS),
    .NEGATE(1)
  ) u_compound_xi_12 (
    .a_0_i(by_row_of_3(a_column_0)),
    .b_0_i({3{wb_row_0}}),
    .a_1_i(by_row_of_3(a_column_1)),
    .b_1_i({3{wb_row_1}}),
    .addend_i({MATRIX_WORDS * W{1'b0}}),
    .y_o(xi_12),
    .mul_a_o(xi_12_mul_a),
    .mul_b_o(xi_12_mul_b),
    .mul_y_i(xi_12_mul_y),
    .add_a_o(xi_12_add_a),
    .add_b_o(xi_12_add_b),
    .add_y_i(xi_12_add_y)
  );

  // (30) xi_22^C = xi_22^B + xi_21^B D W^B
  logic [UPPER_WORDS*W-1:0] xi_22;
  logic [COMPOUND_XI_22_MUL*W-1:0] xi_22_mul_a, xi_22_mul_b, xi_22_mul_y;
  logic [COMPOUND_XI_22_ADD*W-1:0] xi_22_add_a, xi_22_add_b, xi_22_add_y;
  linked_dot #(
    .W(W),
    .N(UPPER_WORDS),
    .ADDEND(1)
  ) u_compound_xi_22 (
    .a_0_i(by_row(b_row_0)),
    .b_0_i(by_column(wb_row_0)),
    .a_1_i(by_row(b_row_1)),
    .b_1_i(by_column(wb_row_1)),
    .addend_i(upper(b_xi_22)),
    .y_o(xi_22),
    .mul_a_o(xi_22_mul_a),
    .mul_b_o(xi_22_mul_b),
    .mul_y_i(xi_22_mul_y),
    .add_a_o(xi_22_add_a),
    .add_b_o(xi_22_add_b),
    .add_y_i(xi_22_add_y)
  );

  // ---------------------------------------------------------------------------------------------
  // Routing of the units; operands of units that no sub-design uses are zero, which sets no flag
  // ---------------------------------------------------------------------------------------------
  logic in_pass_1_q, in_pass_2_q;
  logic [PASS_1_MUL*W-1:0] p1_mul_a, p1_mul_b, p1_mul_y;
  logic [PASS_1_ADD*W-1:0] p1_add_a, p1_add_b, p1_add_y;
  logic [PASS_2_MUL*W-1:0] p2_mul_a, p2_mul_b, p2_mul_y;
  logic [PASS_2_ADD*W-1:0] p2_add_a, p2_add_b, p2_add_y;

  assign p1_mul_a = {xi_20_mul_a, xi_10_mul_a, beta_mul_a, wb_mul_a, wa_mul_a, inverse_mul_a};
  assign p1_mul_b = {xi_20_mul_b, xi_10_mul_b, beta_mul_b, wb_mul_b, wa_mul_b, inverse_mul_b};
  assign {xi_20_mul_y, xi_10_mul_y, beta_mul_y, wb_mul_y, wa_mul_y, inverse_mul_y} = p1_mul_y;
  assign p1_add_a = {xi_20_add_a, xi_10_add_a, beta_add_a, wb_add_a,
                     wa_add_a, b_add_a, inverse_add_a};
  assign p1_add_b = {xi_20_add_b, xi_10_add_b, beta_add_b, wb_add_b,
                     wa_add_b, b_add_b, inverse_add_b};
  assign {xi_20_add_y, xi_10_add_y, beta_add_y, wb_add_y,
          wa_add_y, b_add_y, inverse_add_y} = p1_add_y;
  assign p2_mul_a = {xi_22_mul_a, xi_12_mul_a, xi_11_mul_a};
  assign p2_mul_b = {xi_22_mul_b, xi_12_mul_b, xi_11_mul_b};
  assign {xi_22_mul_y, xi_12_mul_y, xi_11_mul_y} = p2_mul_y;
  assign p2_add_a = {xi_22_add_a, xi_12_add_a, xi_11_add_a};
  assign p2_add_b = {xi_22_add_b, xi_12_add_b, xi_11_add_b};
  assign {xi_22_add_y, xi_12_add_y, xi_11_add_y} = p2_add_y;

  assign p1_mul_y = mul_y_i[0+:PASS_1_MUL*W];
  assign p1_add_y = add_y_i[0+:PASS_1_ADD*W];
  if (PASSES == 1) begin : gen_all_at_once
    assign mul_a_o = in_pass_1_q ? {p2_mul_a, p1_mul_a} : '0;
    assign mul_b_o = in_pass_1_q ? {p2_mul_b, p1_mul_b} : '0;
    assign add_a_o = in_pass_1_q ? {p2_add_a, p1_add_a} : '0;
    assign add_b_o = in_pass_1_q ? {p2_add_b, p1_add_b} : '0;
    assign p2_mul_y = mul_y_i[PASS_1_MUL*W+:PASS_2_MUL*W];
    assign p2_add_y = add_y_i[PASS_1_ADD*W+:PASS_2_ADD*W];
  end else begin : gen_rerouted
    localparam int MUL_BITS = NUM_MUL * W;
    localparam int ADD_BITS = NUM_ADD * W;
    assign mul_a_o = in_pass_1_q ? MUL_BITS'(p1_mul_a) : in_pass_2_q ? MUL_BITS'(p2_mul_a) : '0;
    assign mul_b_o = in_pass_1_q ? MUL_BITS'(p1_mul_b) : in_pass_2_q ? MUL_BITS'(p2_mul_b) : '0;
    assign add_a_o = in_pass_1_q ? ADD_BITS'(p1_add_a) : in_pass_2_q ? ADD_BITS'(p2_add_a) : '0;
    assign add_b_o = in_pass_1_q ? ADD_BITS'(p1_add_b) : in_pass_2_q ? ADD_BITS'(p2_add_b) : '0;
    assign p2_mul_y = mul_y_i[0+:PASS_2_MUL*W];
    assign p2_add_y = add_y_i[0+:PASS_2_ADD*W];
  end

  // ---------------------------------------------------------------------------------------------
  // Sequence and results
  // ---------------------------------------------------------------------------------------------
  logic [COUNT_W-1:0] count_q;
  logic end_pass_1, end_pass_2;
  logic [fp_pkg::FLAGS_W-1:0] unit_flags;
  assign end_pass_1 = in_pass_1_q && count_q == COUNT_W'(PASS_1_LATENCY);
  assign end_pass_2 = in_pass_2_q && count_q == COUNT_W'(PASS_2_LATENCY);
  assign unit_flags = mul_flags_i | add_flags_i | (in_pass_1_q ? rec_flags_i : '0);
  assign busy_o = in_pass_1_q | in_pass_2_q;
  assign done_o = PASSES == 1 ? end_pass_1 : end_pass_2;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_pass_1_q <= 1'b0;
      in_pass_2_q <= 1'b0;
      count_q <= '0;
    end else begin
      count_q <= busy_o && !end_pass_1 && !end_pass_2 ? count_q + 1'b1 : '0;
      in_pass_1_q <= (in_pass_1_q && !end_pass_1) || (!busy_o && start_i);
      in_pass_2_q <= (in_pass_2_q && !end_pass_2) || (PASSES == 2 && end_pass_1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      weight_a_o <= '0;
      weight_b_o <= '0;
      beta_hat_o <= '0;
      compound_o <= '0;
      singular_o <= 1'b0;
      flags_o <= '0;
    end else begin
      if (end_pass_1) begin
        weight_a_o <= weight_a;
        weight_b_o <= weight_b;
        beta_hat_o <= beta_hat;
        compound_o[XI_10*W+:VECTOR_WORDS*W] <= xi_10;
        compound_o[XI_20*W+:VECTOR_WORDS*W] <= xi_20;
        singular_o <= singular;
        flags_o <= unit_flags;
      end
      if (end_pass_2) begin
        flags_o <= flags_o | unit_flags;
      end
      if (done_o) begin
        compound_o[XI_11*W+:MATRIX_WORDS*W] <= symmetric(xi_11);
        compound_o[XI_12*W+:MATRIX_WORDS*W] <= xi_12;
        compound_o[XI_22*W+:MATRIX_WORDS*W] <= symmetric(xi_22);
      end
    end
  end

endmodule
