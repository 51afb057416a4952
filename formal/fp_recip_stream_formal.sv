// fp_recip_stream: every operand that was taken gives one result, that of the specification, in
// order; a result stands until it is taken, and comes in time.
//
// Any operands, and any waits on both sides. Bounded, by more steps than the unit holds operands;
// the chosen operand may be any of them. STAGES is at least 1: a unit without registers is only
// wires here.

module fp_recip_stream_formal #(
  parameter int EXP_W = 4,
  parameter int MAN_W = 2,
  parameter int STAGES = 1,
  parameter int METHOD = fp_pkg::RECIP_ARRAY
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 valid_i,
  input logic [EXP_W+MAN_W:0] a_i,
  input logic                 ready_i
);

  localparam int W = 1 + EXP_W + MAN_W;
  localparam int LATENCY = METHOD == fp_pkg::RECIP_ITERATIVE ? MAN_W + 3 : STAGES;
  localparam int COUNT_W = 5;

  logic ready, valid;
  logic [W-1:0] y, expected_y, y_q, chosen_a_q, chosen_a;
  logic [fp_pkg::FLAGS_W-1:0] flags, expected_flags, flags_q;

  fp_recip_stream #(
    .EXP_W(EXP_W), .MAN_W(MAN_W), .STAGES(STAGES), .METHOD(METHOD)
  ) u_dut (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .a_i, .valid_o(valid), .ready_i, .y_o(y),
    .flags_o(flags)
  );

  logic later_q = 1'b0;
  logic stands_q, in_waits_q, takes, gives;
  logic [W-1:0] a_q;
  logic [COUNT_W-1:0] taken_q, given_q, chosen_q, wait_q;
  assign takes = valid_i && ready;
  assign gives = valid && ready_i;
  assign chosen_a = takes && taken_q == chosen_q ? a_i : chosen_a_q;

  fp_spec_recip #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_spec (
    .a_i(chosen_a), .y_o(expected_y), .flags_o(expected_flags)
  );

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    chosen_q <= chosen_q;  // any number, which stays
    chosen_a_q <= chosen_a;
    stands_q <= rst_ni && valid && !ready_i;
    in_waits_q <= rst_ni && valid_i && !ready;
    a_q <= a_i;
    y_q <= y;
    flags_q <= flags;
    if (!rst_ni) begin
      taken_q <= '0;
      given_q <= '0;
      wait_q <= '0;
    end else begin
      taken_q <= taken_q + COUNT_W'(takes);
      given_q <= given_q + COUNT_W'(gives);
      wait_q <= taken_q != given_q && !valid ? wait_q + 1'b1 : '0;
    end
  end

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
    end
    if (rst_ni && later_q) begin
      assume (!in_waits_q || (valid_i && a_i == a_q));
      stable: assert (!stands_q || (valid && y == y_q && flags == flags_q));
      not_invented: assert (!valid || given_q != taken_q);
      none_doubled: assert (taken_q - given_q <= COUNT_W'(LATENCY + 1));
      in_time: assert (wait_q < COUNT_W'(LATENCY));
      result: assert (!valid || given_q != chosen_q || y == expected_y);
      flags_of_result: assert (!valid || given_q != chosen_q || flags == expected_flags);
    end else begin
      assume (!valid_i);
    end
  end

endmodule
