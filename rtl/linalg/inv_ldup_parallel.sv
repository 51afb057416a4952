// Inverse of an N x N matrix by LDUP factorisation with partial pivoting, paper 000 (60)-(82), on
// float units linked from outside: one for each operation of the algorithm, as in the paper.
// Mirrors pymodel.algorithms.linalg.inv_ldup operation by operation.
//
// Same ports, start, results and bits as inv_ldup_serial, which has the units of one elimination
// row. They are two modules because they share nothing but the tree of additions: here the whole
// algorithm is one expression, there it is a sequence.
//
// Matrices are flat vectors, entry (i, j) at word N i + j. A `start_i` pulse begins; `a_i` must be
// held while `busy_o`. `done_o` pulses in the last cycle of `busy_o`; results are valid after it
// and hold until the next start or reset. `flags_o` are the flags of this run (fp_pkg order).
// `singular_o`: a pivot is zero or an entry of the inverse is not finite. That is one condition: a
// pivot of zero has an infinite reciprocal, which is a term of an entry of the inverse.
//
// Resources: (N-1) N (N+1) multipliers, (N-1)^2 N adders, N reciprocals (operands out, results in).
// Latency in busy cycles, from units' STAGES: one elimination step takes STEP = REC + 2 MUL + ADD.
// The first N - 2 are followed by the longer of
//   STEP + REC                                                         (last pivot's reciprocal)
//   REC + MUL + sum over m = 2 .. N-1 of (MUL + clog2(m) ADD)          (triangular inverses)
// and then, with the cycle that stores the result, by 2 MUL + clog2(N) ADD + 1.
// Throughput: one matrix every latency + 1 cycles, as a start in the last busy cycle does nothing.

module inv_ldup_parallel #(
  parameter int N = 4,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W,
  localparam int NUM_MUL = ldup_pkg::num_mul(N, ldup_pkg::PARALLEL),
  localparam int NUM_ADD = ldup_pkg::num_add(N, ldup_pkg::PARALLEL),
  localparam int NUM_REC = ldup_pkg::num_rec(N, ldup_pkg::PARALLEL)
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

  function automatic int triangle_latency();
    int cycles;
    cycles = REC_STAGES + MUL_STAGES;
    for (int m = 2; m < N; m++) begin
      cycles = cycles + MUL_STAGES + $clog2(m) * ADD_STAGES;
    end
    return cycles;
  endfunction

  localparam int STEP_LATENCY = REC_STAGES + 2 * MUL_STAGES + ADD_STAGES;
  localparam int PIVOT_LATENCY = STEP_LATENCY + REC_STAGES;
  localparam int TRIANGLE_LATENCY = triangle_latency();
  localparam int LATENCY = (N - 2) * STEP_LATENCY
      + (PIVOT_LATENCY > TRIANGLE_LATENCY ? PIVOT_LATENCY : TRIANGLE_LATENCY)
      + 2 * MUL_STAGES + $clog2(N) * ADD_STAGES;
  localparam int COUNT_W = $clog2(LATENCY + 1) + 1;
  localparam int INDEX_W = N > 2 ? $clog2(N) : 1;
  localparam logic [W-1:0] SIGN = {1'b1, {(W - 1) {1'b0}}};

  // Position of entry (i, j) of a matrix
  function automatic int at(input int i, input int j);
    return W * (N * i + j);
  endfunction

  function automatic int at_either(input int transposed, input int i, input int j);
    return transposed != 0 ? at(j, i) : at(i, j);
  endfunction

  // The algorithm: from the matrix and the units' results, {inverse, operands}.
  // Sums are reduced by balanced trees of neighbours.
  // `x` holds A_k and the columns of L, then D^-1 on its diagonal and the inverses of L and U
  // beside it, then the product: everything in place.
  function automatic logic [(N*N+2*NUM_MUL+2*NUM_ADD+NUM_REC)*W-1:0] data_path(
    input logic [N*N*W-1:0] x, input logic [NUM_MUL*W-1:0] mul_y,
    input logic [NUM_ADD*W-1:0] add_y, input logic [NUM_REC*W-1:0] rec_y
  );
    /* verilator no_inline_task */  // once in the simulator's code, not ten times
    logic [NUM_MUL*W-1:0] mul_a, mul_b;
    logic [NUM_ADD*W-1:0] add_a, add_b;
    logic [NUM_REC*W-1:0] rec_a;
    logic [N*INDEX_W-1:0] pivots;
    logic [N*W-1:0] row, t;
    logic [W-1:0] word;
    int mul, add, pivot, terms;

    // every word of the operands gets its value below, as the counts of the units are exact
    mul = 0;
    add = 0;

    for (int k = 0; k < N; k++) begin
      // (60), (61), (69): the largest of the column, by its bits without the sign, moves up
      pivot = k;
      for (int i = k + 1; i < N; i++) begin
        if (x[at(i, k)+:W-1] > x[at(pivot, k)+:W-1]) begin
          pivot = i;
        end
      end
      row = x[at(k, 0)+:N*W];
      x[at(k, 0)+:N*W] = x[at(pivot, 0)+:N*W];
      x[at(pivot, 0)+:N*W] = row;
      pivots[INDEX_W*k+:INDEX_W] = INDEX_W'(pivot);
      // (62), (75)
      rec_a[W*k+:W] = x[at(k, k)+:W];
      x[at(k, k)+:W] = rec_y[W*k+:W];
      // (66), (68)
      for (int i = k + 1; i < N; i++) begin
        mul_a[W*mul+:W] = x[at(k, k)+:W];
        mul_b[W*mul+:W] = x[at(i, k)+:W];
        x[at(i, k)+:W] = mul_y[W*mul+:W];
        mul = mul + 1;
        for (int j = k + 1; j < N; j++) begin
          mul_a[W*mul+:W] = x[at(i, k)+:W];
          mul_b[W*mul+:W] = x[at(k, j)+:W];
          add_a[W*add+:W] = x[at(i, j)+:W];
          add_b[W*add+:W] = mul_y[W*mul+:W] ^ SIGN;
          x[at(i, j)+:W] = add_y[W*add+:W];
          mul = mul + 1;
          add = add + 1;
        end
      end
      // (77)
      for (int j = k + 1; j < N; j++) begin
        mul_a[W*mul+:W] = x[at(k, k)+:W];
        mul_b[W*mul+:W] = x[at(k, j)+:W];
        x[at(k, j)+:W] = mul_y[W*mul+:W];
        mul = mul + 1;
      end
    end

    // (78) for L; (79) for U, transposed
    for (int transposed = 0; transposed < 2; transposed++) begin
      for (int i = N - 1; i > 0; i--) begin
        for (int j = i - 1; j >= 0; j--) begin
          t = '0;
          terms = 0;
          for (int k = j + 1; k < i; k++) begin
            mul_a[W*mul+:W] = x[at_either(transposed, i, k)+:W];
            mul_b[W*mul+:W] = x[at_either(transposed, k, j)+:W];
            t[W*terms+:W] = mul_y[W*mul+:W];
            mul = mul + 1;
            terms = terms + 1;
          end
          t[W*terms+:W] = x[at_either(transposed, i, j)+:W];
          terms = terms + 1;
          for (int stride = 1; stride < N; stride = 2 * stride) begin
            for (int first = 0; first + stride < terms; first = first + 2 * stride) begin
              add_a[W*add+:W] = t[W*first+:W];
              add_b[W*add+:W] = t[W*(first+stride)+:W];
              t[W*first+:W] = add_y[W*add+:W];
              add = add + 1;
            end
          end
          x[at_either(transposed, i, j)+:W] = t[0+:W] ^ SIGN;
        end
      end
    end

    // (80)
    for (int i = 0; i < N; i++) begin
      for (int j = i + 1; j < N; j++) begin
        mul_a[W*mul+:W] = x[at(i, j)+:W];
        mul_b[W*mul+:W] = x[at(j, j)+:W];
        x[at(i, j)+:W] = mul_y[W*mul+:W];
        mul = mul + 1;
      end
    end

    // (81)
    for (int i = 0; i < N; i++) begin
      for (int j = 0; j < N; j++) begin
        t = '0;
        terms = 0;
        for (int k = N - 1; k >= i && k > j; k--) begin
          mul_a[W*mul+:W] = x[at(i, k)+:W];
          mul_b[W*mul+:W] = x[at(k, j)+:W];
          t[W*terms+:W] = mul_y[W*mul+:W];
          mul = mul + 1;
          terms = terms + 1;
        end
        if (i <= j) begin
          t[W*terms+:W] = x[at(i, j)+:W];
          terms = terms + 1;
        end
        for (int stride = 1; stride < N; stride = 2 * stride) begin
          for (int first = 0; first + stride < terms; first = first + 2 * stride) begin
            add_a[W*add+:W] = t[W*first+:W];
            add_b[W*add+:W] = t[W*(first+stride)+:W];
            t[W*first+:W] = add_y[W*add+:W];
            add = add + 1;
          end
        end
        x[at(i, j)+:W] = t[0+:W];
      end
    end

    // (82)
    for (int k = N - 2; k >= 0; k--) begin
      for (int i = 0; i < N; i++) begin
        pivot = 32'(pivots[INDEX_W*k+:INDEX_W]);
        word = x[at(i, k)+:W];
        x[at(i, k)+:W] = x[at(i, pivot)+:W];
        x[at(i, pivot)+:W] = word;
      end
    end

    return {x, rec_a, add_b, add_a, mul_b, mul_a};
  endfunction

  logic [N*N*W-1:0] a, y;
  assign a = busy_o ? a_i : '0;
  assign {y, rec_a_o, add_b_o, add_a_o, mul_b_o, mul_a_o} =
      data_path(a, mul_y_i, add_y_i, rec_y_i);

  function automatic logic not_finite(input logic [N*N*W-1:0] m);
    logic found;
    found = 1'b0;
    for (int e = 0; e < N * N; e++) begin
      found = found | (&m[W*e+MAN_W+:EXP_W]);
    end
    return found;
  endfunction

  // Sequence and result
  logic busy_q;
  logic [COUNT_W-1:0] count_q;
  assign busy_o = busy_q;
  assign done_o = busy_q && count_q == COUNT_W'(LATENCY);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      count_q <= '0;
      y_o <= '0;
      singular_o <= 1'b0;
      flags_o <= '0;
    end else begin
      busy_q <= busy_q ? !done_o : start_i;
      count_q <= busy_q ? count_q + 1'b1 : '0;  // a cycle without a run follows each
      if (done_o) begin
        y_o <= y;
        singular_o <= not_finite(y);
        flags_o <= mul_flags_i | add_flags_i | rec_flags_i;
      end
    end
  end

endmodule
