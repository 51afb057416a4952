// LDUP engine: an inverter of N x N matrices, its float units, and the state machine of the paper's
// figure 4 with the commands run and reset, as in hdca_engine.
//
//   IDLE --run--> BUSY --done--> READ --run--> BUSY ...        reset (rst_ni): IDLE from anywhere
//   READ --clear--> IDLE
//
// A run while busy does nothing. The matrix must be held while `busy_o`. `done_o` pulses in the
// last busy cycle; results, `singular_o` and `flags_o` are valid one cycle later, when `read_o`
// rises.
//
// PARALLEL = 1: a unit for each operation (inv_ldup_parallel). PARALLEL = 0: the units of one
// elimination row, used again and again (inv_ldup_serial). Both give the same bits.
//
// Latency: 1 cycle + that of the inverter. Throughput: one matrix a latency.

module ldup_engine #(
  parameter int N = 4,
  parameter bit PARALLEL = ldup_pkg::SERIAL,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic run_i,
  input  logic clear_i,
  output logic idle_o,
  output logic busy_o,
  output logic read_o,
  output logic done_o,

  input  logic [N*N*W-1:0]           a_i,
  output logic [N*N*W-1:0]           y_o,
  output logic                       singular_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  localparam int NUM_MUL = ldup_pkg::num_mul(N, PARALLEL);
  localparam int NUM_ADD = ldup_pkg::num_add(N, PARALLEL);
  localparam int NUM_REC = ldup_pkg::num_rec(N, PARALLEL);

  // State
  logic read_q;
  assign read_o = read_q;
  assign idle_o = !busy_o && !read_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q <= 1'b0;
    end else begin
      read_q <= done_o || (read_q && !clear_i && !run_i);
    end
  end

  // Float units
  logic [NUM_MUL*W-1:0] mul_a, mul_b, mul_y;
  logic [NUM_ADD*W-1:0] add_a, add_b, add_y;
  logic [NUM_REC*W-1:0] rec_a, rec_y;
  logic [fp_pkg::FLAGS_W-1:0] mul_flags, add_flags, rec_flags;
  logic [NUM_REC-1:0][fp_pkg::FLAGS_W-1:0] each_rec_flags;

  fp_units #(
    .UNIT(fp_pkg::UNIT_MUL),
    .N(NUM_MUL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(MUL_STAGES)
  ) u_mul (
    .clk_i,
    .a_i(mul_a),
    .b_i(mul_b),
    .y_o(mul_y),
    .flags_o(mul_flags)
  );

  fp_units #(
    .UNIT(fp_pkg::UNIT_ADD),
    .N(NUM_ADD),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .STAGES(ADD_STAGES)
  ) u_add (
    .clk_i,
    .a_i(add_a),
    .b_i(add_b),
    .y_o(add_y),
    .flags_o(add_flags)
  );

  for (genvar r = 0; r < NUM_REC; r++) begin : gen_rec
    fp_recip #(
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .STAGES(REC_STAGES)
    ) u_rec (
      .clk_i,
      .a_i(rec_a[W*r+:W]),
      .y_o(rec_y[W*r+:W]),
      .flags_o(each_rec_flags[r])
    );
  end

  always_comb begin
    rec_flags = '0;
    for (int r = 0; r < NUM_REC; r++) begin
      rec_flags = rec_flags | each_rec_flags[r];
    end
  end

  // Inverter
  if (PARALLEL) begin : gen_parallel
    inv_ldup_parallel #(
      .N(N),
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .ADD_STAGES(ADD_STAGES),
      .MUL_STAGES(MUL_STAGES),
      .REC_STAGES(REC_STAGES)
    ) u_inverter (
      .clk_i,
      .rst_ni,
      .start_i(run_i),
      .busy_o,
      .done_o,
      .a_i,
      .y_o,
      .singular_o,
      .flags_o,
      .mul_a_o(mul_a),
      .mul_b_o(mul_b),
      .mul_y_i(mul_y),
      .mul_flags_i(mul_flags),
      .add_a_o(add_a),
      .add_b_o(add_b),
      .add_y_i(add_y),
      .add_flags_i(add_flags),
      .rec_a_o(rec_a),
      .rec_y_i(rec_y),
      .rec_flags_i(rec_flags)
    );
  end else begin : gen_serial
    inv_ldup_serial #(
      .N(N),
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .ADD_STAGES(ADD_STAGES),
      .MUL_STAGES(MUL_STAGES),
      .REC_STAGES(REC_STAGES)
    ) u_inverter (
      .clk_i,
      .rst_ni,
      .start_i(run_i),
      .busy_o,
      .done_o,
      .a_i,
      .y_o,
      .singular_o,
      .flags_o,
      .mul_a_o(mul_a),
      .mul_b_o(mul_b),
      .mul_y_i(mul_y),
      .mul_flags_i(mul_flags),
      .add_a_o(add_a),
      .add_b_o(add_b),
      .add_y_i(add_y),
      .add_flags_i(add_flags),
      .rec_a_o(rec_a),
      .rec_y_i(rec_y),
      .rec_flags_i(rec_flags)
    );
  end

endmodule
