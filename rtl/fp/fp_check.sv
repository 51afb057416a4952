// Stops the elaboration of a float unit whose parameters are out of range. No hardware.

module fp_check #(
  parameter int EXP_W  = 8,
  parameter int MAN_W  = 23,
  parameter int STAGES = 0
);

  if (EXP_W < fp_pkg::MIN_EXP_W || EXP_W > fp_pkg::MAX_EXP_W) begin : gen_bad_exp_w
    initial $fatal(1, "EXP_W is %0d, must lie in 4..11", EXP_W);
  end
  if (MAN_W < fp_pkg::MIN_MAN_W || MAN_W > fp_pkg::MAX_MAN_W) begin : gen_bad_man_w
    initial $fatal(1, "MAN_W is %0d, must lie in 2..52", MAN_W);
  end
  if (STAGES < 0 || STAGES > fp_pkg::MAX_STAGES) begin : gen_bad_stages
    initial $fatal(1, "STAGES is %0d, must lie in 0..6", STAGES);
  end

endmodule
