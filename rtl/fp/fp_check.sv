// Refuses a float unit whose parameters are out of range, as all checks do: when a simulation
// starts (Icarus 11 knows no $fatal at elaboration), and in Yosys. No hardware.

module fp_check #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0,
  parameter int MAX_EXP_W = fp_pkg::MAX_EXP_W,
  parameter int MAX_MAN_W = fp_pkg::MAX_MAN_W,
  parameter int MAX_STAGES = fp_pkg::MAX_STAGES
);

  if (EXP_W < fp_pkg::MIN_EXP_W || EXP_W > MAX_EXP_W) begin : gen_bad_exp_w
    initial $fatal(1, "%m: EXP_W is %0d, must lie in %0d..%0d",
                   EXP_W, fp_pkg::MIN_EXP_W, MAX_EXP_W);
  end
  if (MAN_W < fp_pkg::MIN_MAN_W || MAN_W > MAX_MAN_W) begin : gen_bad_man_w
    initial $fatal(1, "%m: MAN_W is %0d, must lie in %0d..%0d",
                   MAN_W, fp_pkg::MIN_MAN_W, MAX_MAN_W);
  end
  if (STAGES < 0 || STAGES > MAX_STAGES) begin : gen_bad_stages
    initial $fatal(1, "%m: STAGES is %0d, must lie in 0..%0d", STAGES, MAX_STAGES);
  end

endmodule
