// The float units that an algorithm module links to through its ports: adders, multipliers and
// reciprocals side by side, each wired to its own lane of the ports.
//
// Latency: ADD_STAGES, MUL_STAGES, REC_STAGES clocks. Throughput: one operation a clock and unit.

module fp_pool #(
  parameter int EXP_W      = 8,
  parameter int MAN_W      = 23,
  parameter int NUM_ADD    = 1,
  parameter int NUM_MUL    = 1,
  parameter int NUM_REC    = 1,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic                                    clk_i,

  input  logic [NUM_ADD-1:0][W-1:0]               add_a_i,
  input  logic [NUM_ADD-1:0][W-1:0]               add_b_i,
  output logic [NUM_ADD-1:0][W-1:0]               add_y_o,
  output logic [NUM_ADD-1:0][fp_pkg::FLAGS_W-1:0] add_flags_o,

  input  logic [NUM_MUL-1:0][W-1:0]               mul_a_i,
  input  logic [NUM_MUL-1:0][W-1:0]               mul_b_i,
  output logic [NUM_MUL-1:0][W-1:0]               mul_y_o,
  output logic [NUM_MUL-1:0][fp_pkg::FLAGS_W-1:0] mul_flags_o,

  input  logic [NUM_REC-1:0][W-1:0]               rec_a_i,
  output logic [NUM_REC-1:0][W-1:0]               rec_y_o,
  output logic [NUM_REC-1:0][fp_pkg::FLAGS_W-1:0] rec_flags_o
);

  if (NUM_ADD < 1 || NUM_MUL < 1 || NUM_REC < 1) begin : gen_bad_count
    initial $fatal(1, "NUM_ADD %0d, NUM_MUL %0d, NUM_REC %0d: at least one of each",
                   NUM_ADD, NUM_MUL, NUM_REC);
  end

  for (genvar i = 0; i < NUM_ADD; i++) begin : gen_add
    fp_add #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(ADD_STAGES)) u_add (
      .clk_i, .a_i(add_a_i[i]), .b_i(add_b_i[i]), .y_o(add_y_o[i]), .flags_o(add_flags_o[i])
    );
  end

  for (genvar i = 0; i < NUM_MUL; i++) begin : gen_mul
    fp_mul #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(MUL_STAGES)) u_mul (
      .clk_i, .a_i(mul_a_i[i]), .b_i(mul_b_i[i]), .y_o(mul_y_o[i]), .flags_o(mul_flags_o[i])
    );
  end

  for (genvar i = 0; i < NUM_REC; i++) begin : gen_rec
    fp_recip #(.EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(REC_STAGES)) u_rec (
      .clk_i, .a_i(rec_a_i[i]), .y_o(rec_y_o[i]), .flags_o(rec_flags_o[i])
    );
  end

endmodule
