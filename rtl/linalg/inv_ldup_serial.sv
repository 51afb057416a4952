// Inverse of an N x N matrix by LDUP factorisation with partial pivoting, paper 000 (60)-(82), on
// float units linked from outside: those of one elimination row, used step after step.
// Mirrors pymodel.algorithms.linalg.inv_ldup operation by operation.
//
// Same ports, start, results and bits as inv_ldup_parallel (see there); but `a_i` is taken at the
// start and need not be held, and `y_o` is the one matrix that everything happens in: it is the
// inverse from `done_o` until the next start or reset.
//
// Steps: for each k a reciprocal with its exchange of rows, N - 1 - k rows of elimination, and one
// row of U; then the entries of the inverses of L and U, the rows of B, the entries of the product,
// and N - 1 exchanges of columns. Sums of all lengths use one tree of N terms: those that are not
// there are -0, which changes no sum and raises no flag.
//
// Resources: N multipliers, N - 1 adders, 1 reciprocal (operands out, results in).
// Latency in busy cycles, from units' STAGES, with D = clog2(N):
//   N (REC + 1) + N (N-1)/2 (2 MUL + ADD + 1) + 2 (N-1) (MUL + 1)
//   + N (2 N - 1) (MUL + D ADD + 1) + N - 1
// Throughput: one matrix every latency + 1 cycles, as a start in the last busy cycle does nothing.

module inv_ldup_serial #(
  parameter int N = 4,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int NUM_MUL = ldup_pkg::num_mul(N, ldup_pkg::SERIAL),
  localparam int NUM_ADD = ldup_pkg::num_add(N, ldup_pkg::SERIAL),
  localparam int NUM_REC = ldup_pkg::num_rec(N, ldup_pkg::SERIAL)
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  output logic busy_o,
  output logic done_o,

  input  logic [N*N*W-1:0]           a_i,
  output logic [N*N*W-1:0]           y_o,
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
  output logic [NUM_REC*W-1:0]       rec_a_o,
  input  logic [NUM_REC*W-1:0]       rec_y_i,
  input  logic [fp_pkg::FLAGS_W-1:0] rec_flags_i
);

  if (N < ldup_pkg::MIN_N || N > ldup_pkg::MAX_N) begin : gen_check_n
    initial $fatal(1, "%m: N is %0d, must lie in %0d..%0d",
                   N, ldup_pkg::MIN_N, ldup_pkg::MAX_N);
  end

  localparam int INDEX_W = N > 2 ? $clog2(N) : 1;
  localparam logic [W-1:0] MINUS_ZERO = {1'b1, {(W - 1) {1'b0}}};  // also the mask of the sign

  // Steps; (i, j) says which
  localparam int STEP_W = 4;
  localparam logic [STEP_W-1:0] IDLE = 4'd0;
  localparam logic [STEP_W-1:0] RECIPROCAL = 4'd1;  // (60)-(62), (75): of pivot j
  localparam logic [STEP_W-1:0] ELIMINATE = 4'd2;  // (66), (68): column j from row i
  localparam logic [STEP_W-1:0] SCALE_U = 4'd3;  // (77): row j
  localparam logic [STEP_W-1:0] INVERT_L = 4'd4;  // (78): entry (i, j)
  localparam logic [STEP_W-1:0] INVERT_U = 4'd5;  // (79): entry (j, i)
  localparam logic [STEP_W-1:0] SCALE_B = 4'd6;  // (80): row j
  localparam logic [STEP_W-1:0] PRODUCT = 4'd7;  // (81): entry (i, j)
  localparam logic [STEP_W-1:0] PERMUTE = 4'd8;  // (82): column j

  localparam int SUM_LATENCY = MUL_STAGES + $clog2(N) * ADD_STAGES;
  localparam int ROW_LATENCY = 2 * MUL_STAGES + ADD_STAGES;
  localparam int COUNT_W = $clog2(SUM_LATENCY + ROW_LATENCY + REC_STAGES + 1) + 1;

  function automatic logic [COUNT_W-1:0] latency(input logic [STEP_W-1:0] step);
    case (step)
      RECIPROCAL: latency = COUNT_W'(REC_STAGES);
      ELIMINATE: latency = COUNT_W'(ROW_LATENCY);
      SCALE_U, SCALE_B: latency = COUNT_W'(MUL_STAGES);
      INVERT_L, INVERT_U, PRODUCT: latency = COUNT_W'(SUM_LATENCY);
      default: latency = '0;
    endcase
  endfunction

  // Position of entry (i, j) of a matrix
  function automatic int at(input int i, input int j);
    return W * (N * i + j);
  endfunction

  // ---------------------------------------------------------------------------------------------
  // Sequence
  // ---------------------------------------------------------------------------------------------
  logic [STEP_W-1:0] step_q;
  logic [INDEX_W-1:0] i_q, j_q, last;
  logic [COUNT_W-1:0] count_q;
  logic end_step;
  assign last = INDEX_W'(N - 1);
  assign busy_o = step_q != IDLE;
  assign end_step = busy_o && count_q == latency(step_q);
  assign done_o = end_step && step_q == PERMUTE && j_q == '0;

  // Next step, i, j
  function automatic logic [STEP_W+2*INDEX_W-1:0] following(
    input logic [STEP_W-1:0] step, input logic [INDEX_W-1:0] i, input logic [INDEX_W-1:0] j
  );
    case (step)
      RECIPROCAL: begin
        if (j == last) begin
          following = {INVERT_L, last, last - 1'b1};
        end else begin
          following = {ELIMINATE, j + 1'b1, j};
        end
      end
      ELIMINATE: begin
        if (i == last) begin
          following = {SCALE_U, i, j};
        end else begin
          following = {ELIMINATE, i + 1'b1, j};
        end
      end
      SCALE_U: following = {RECIPROCAL, i, j + 1'b1};
      INVERT_L, INVERT_U: begin
        if (j != '0) begin
          following = {step, i, j - 1'b1};
        end else if (i != INDEX_W'(1)) begin
          following = {step, i - 1'b1, i - 1'b1 - 1'b1};
        end else if (step == INVERT_L) begin
          following = {INVERT_U, last, last - 1'b1};
        end else begin
          following = {SCALE_B, {2 * INDEX_W{1'b0}}};
        end
      end
      SCALE_B: begin
        if (j == last - 1'b1) begin
          following = {PRODUCT, {2 * INDEX_W{1'b0}}};
        end else begin
          following = {SCALE_B, i, j + 1'b1};
        end
      end
      PRODUCT: begin
        if (j != last) begin
          following = {PRODUCT, i, j + 1'b1};
        end else if (i != last) begin
          following = {PRODUCT, i + 1'b1, {INDEX_W{1'b0}}};
        end else begin
          following = {PERMUTE, i, last - 1'b1};
        end
      end
      PERMUTE: begin
        if (j != '0) begin
          following = {PERMUTE, i, j - 1'b1};
        end else begin
          following = {IDLE, {2 * INDEX_W{1'b0}}};
        end
      end
      default: following = {IDLE, {2 * INDEX_W{1'b0}}};
    endcase
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {step_q, i_q, j_q} <= '0;
      count_q <= '0;
    end else begin
      count_q <= busy_o && !end_step ? count_q + 1'b1 : '0;
      if (!busy_o) begin
        step_q <= start_i ? RECIPROCAL : IDLE;
      end else if (end_step) begin
        {step_q, i_q, j_q} <= following(step_q, i_q, j_q);
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Operands. `x_q` holds A_k and the columns of L, then D^-1 on its diagonal and the inverses of L
  // and U beside it, then the product. Operands of units that a step does not use are zero, which
  // sets no flag (but a reciprocal's).
  // ---------------------------------------------------------------------------------------------
  logic [N*N*W-1:0] x_q;
  logic [N*INDEX_W-1:0] pivots_q;
  logic [INDEX_W-1:0] pivot;
  logic [W-1:0] sum;

  // (60): row of the largest in column k from row k on, by its bits without the sign
  function automatic logic [INDEX_W-1:0] find_pivot(input logic [N*N*W-1:0] x, input int k);
    int found;
    found = k;
    for (int i = 1; i < N; i++) begin
      if (i > k && x[at(i, k)+:W-1] > x[at(found, k)+:W-1]) begin
        found = i;
      end
    end
    return INDEX_W'(found);
  endfunction

  // Does the sum for entry (i, j) of the product have the product of b_ik and l-hat_kj?
  function automatic logic in_product(input int i, input int j, input int k);
    return k >= i && k > j;
  endfunction

  // {operands b, operands a} of the multipliers
  function automatic logic [2*NUM_MUL*W-1:0] multiplicands(
    input logic [STEP_W-1:0] step, input int i, input int j, input logic [N*N*W-1:0] x,
    input logic [W-1:0] product_0
  );
    logic [NUM_MUL*W-1:0] a, b;
    int k;
    a = '0;
    b = '0;
    if (step == ELIMINATE) begin
      a[0+:W] = x[at(j, j)+:W];
      b[0+:W] = x[at(i, j)+:W];
    end
    for (int m = 0; m < N; m++) begin
      k = step == PRODUCT ? N - 1 - m : j + 1 + m;
      if (step == ELIMINATE && m > j) begin
        a[W*m+:W] = product_0;
        b[W*m+:W] = x[at(j, m)+:W];
      end else if (step == SCALE_U && m > j) begin
        a[W*m+:W] = x[at(j, j)+:W];
        b[W*m+:W] = x[at(j, m)+:W];
      end else if (step == SCALE_B && m > j) begin
        a[W*m+:W] = x[at(j, m)+:W];
        b[W*m+:W] = x[at(m, m)+:W];
      end else if ((step == INVERT_L && k < i) || (step == PRODUCT && in_product(i, j, k))) begin
        a[W*m+:W] = x[at(i, k)+:W];
        b[W*m+:W] = x[at(k, j)+:W];
      end else if (step == INVERT_U && k < i) begin
        a[W*m+:W] = x[at(k, i)+:W];
        b[W*m+:W] = x[at(j, k)+:W];
      end
    end
    return {b, a};
  endfunction

  // Terms of a sum
  function automatic logic [N*W-1:0] terms(
    input logic [STEP_W-1:0] step, input int i, input int j, input logic [N*N*W-1:0] x,
    input logic [NUM_MUL*W-1:0] products
  );
    logic [N*W-1:0] t;
    int k;
    t = {N{MINUS_ZERO}};
    for (int m = 0; m < N; m++) begin
      k = step == PRODUCT ? N - 1 - m : j + 1 + m;
      if (step == PRODUCT) begin
        if (in_product(i, j, k)) begin
          t[W*m+:W] = products[W*m+:W];
        end else if (k == j && i <= j) begin
          t[W*m+:W] = x[at(i, j)+:W];
        end
      end else if (k < i) begin
        t[W*m+:W] = products[W*m+:W];
      end else if (k == i) begin
        t[W*m+:W] = step == INVERT_L ? x[at(i, j)+:W] : x[at(j, i)+:W];
      end
    end
    return t;
  endfunction

  // {sum, operands b, operands a} of the adders, whose results are `y`: a balanced tree, or a row
  function automatic logic [N*W+NUM_ADD*W-1:0] addends(
    input logic [STEP_W-1:0] step, input int i, input int j, input logic [N*N*W-1:0] x,
    input logic [NUM_MUL*W-1:0] products, input logic [NUM_ADD*W-1:0] y
  );
    logic [NUM_ADD*W-1:0] a, b;
    logic [N*W-1:0] t;
    int adder;
    a = '0;
    b = '0;
    t = '0;
    adder = 0;
    if (step == ELIMINATE) begin
      for (int m = 1; m < N; m++) begin
        if (m > j) begin
          a[W*(m-1)+:W] = x[at(i, m)+:W];
          b[W*(m-1)+:W] = products[W*m+:W] ^ MINUS_ZERO;
        end
      end
    end else if (step == INVERT_L || step == INVERT_U || step == PRODUCT) begin
      t = terms(step, i, j, x, products);
      for (int stride = 1; stride < N; stride = 2 * stride) begin
        for (int first = 0; first + stride < N; first = first + 2 * stride) begin
          a[W*adder+:W] = t[W*first+:W];
          b[W*adder+:W] = t[W*(first+stride)+:W];
          t[W*first+:W] = y[W*adder+:W];
          adder = adder + 1;
        end
      end
    end
    return {t[0+:W], b, a};
  endfunction

  assign {mul_b_o, mul_a_o} = multiplicands(step_q, 32'(i_q), 32'(j_q), x_q, mul_y_i[0+:W]);
  assign {sum, add_b_o, add_a_o} = addends(step_q, 32'(i_q), 32'(j_q), x_q, mul_y_i, add_y_i);
  assign pivot = find_pivot(x_q, 32'(j_q));
  assign rec_a_o = step_q == RECIPROCAL ? x_q[at(32'(pivot), 32'(j_q))+:W] : '0;

  // ---------------------------------------------------------------------------------------------
  // Results
  // ---------------------------------------------------------------------------------------------
  // The matrix after a step
  function automatic logic [N*N*W-1:0] result(
    input logic [STEP_W-1:0] step, input int i, input int j, input int other,
    input logic [N*N*W-1:0] x, input logic [NUM_MUL*W-1:0] products,
    input logic [NUM_ADD*W-1:0] sums, input logic [W-1:0] total, input logic [W-1:0] reciprocal
  );
    logic [N*W-1:0] row;
    logic [W-1:0] word;
    if (step == RECIPROCAL) begin
      row = x[at(j, 0)+:N*W];
      x[at(j, 0)+:N*W] = x[at(other, 0)+:N*W];
      x[at(other, 0)+:N*W] = row;
      x[at(j, j)+:W] = reciprocal;
    end
    if (step == ELIMINATE) begin
      x[at(i, j)+:W] = products[0+:W];
    end
    if (step == INVERT_L) begin
      x[at(i, j)+:W] = total ^ MINUS_ZERO;
    end
    if (step == INVERT_U) begin
      x[at(j, i)+:W] = total ^ MINUS_ZERO;
    end
    if (step == PRODUCT) begin
      x[at(i, j)+:W] = total;
    end
    for (int m = 0; m < N; m++) begin
      if (step == ELIMINATE && m > j) begin
        x[at(i, m)+:W] = sums[W*(m-1)+:W];
      end
      if ((step == SCALE_U || step == SCALE_B) && m > j) begin
        x[at(j, m)+:W] = products[W*m+:W];
      end
      if (step == PERMUTE) begin
        word = x[at(m, j)+:W];
        x[at(m, j)+:W] = x[at(m, other)+:W];
        x[at(m, other)+:W] = word;
      end
    end
    return x;
  endfunction

  logic [INDEX_W-1:0] exchange;
  assign exchange = step_q == PERMUTE ? pivots_q[INDEX_W*j_q+:INDEX_W] : pivot;
  assign y_o = x_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      x_q <= '0;
      pivots_q <= '0;
      singular_o <= 1'b0;
      flags_o <= '0;
    end else if (!busy_o && start_i) begin
      x_q <= a_i;
      singular_o <= 1'b0;
      flags_o <= '0;
    end else if (end_step) begin
      x_q <= result(step_q, 32'(i_q), 32'(j_q), 32'(exchange), x_q, mul_y_i, add_y_i, sum, rec_y_i);
      if (step_q == RECIPROCAL) begin
        pivots_q[INDEX_W*j_q+:INDEX_W] <= pivot;
      end
      singular_o <= singular_o | (step_q == PRODUCT && (&sum[MAN_W+:EXP_W]));
      // Adders and multipliers may still hold what a reset cut short in the first reciprocal.
      flags_o <= flags_o | (step_q == RECIPROCAL ? rec_flags_i : mul_flags_i | add_flags_i);
    end
  end

endmodule
