// Float reciprocal, correctly rounded, between two handshakes: y = 1 / a, by any METHOD of fp_pkg.
// Rules and flags: fp_pkg.sv. Operands are taken with valid_i and ready_o. Results are taken with
// valid_o and ready_i, in order; one that is not taken stays and stops the pipeline.
//
// Latency: STAGES clocks, 0 = combinational. Throughput: one operation a clock. With
// RECIP_ITERATIVE both are those of fp_recip_iterative, whatever STAGES is in its range.

module fp_recip_stream #(
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int STAGES = 0,
  parameter int METHOD = fp_pkg::RECIP_ARRAY
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [EXP_W+MAN_W:0]       a_i,
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic [EXP_W+MAN_W:0]       y_o,
  output logic [fp_pkg::FLAGS_W-1:0] flags_o
);

  if (METHOD == fp_pkg::RECIP_ITERATIVE) begin : gen_iterative
    fp_check #(.STAGES(STAGES), .MAX_STAGES(fp_pkg::RECIP_MAX_STAGES)) u_check ();

    fp_recip_iterative #(.EXP_W(EXP_W), .MAN_W(MAN_W)) u_recip (
      .clk_i, .rst_ni, .valid_i, .ready_o, .a_i, .valid_o, .ready_i, .y_o, .flags_o
    );
  end else begin : gen_pipeline
    logic enable;

    assign enable = ready_i || !valid_o;
    assign ready_o = enable;

    fp_recip_pipeline #(
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .STAGES(STAGES),
      .METHOD(METHOD)
    ) u_recip (
      .clk_i, .enable_i(enable), .a_i, .y_o, .flags_o
    );

    if (STAGES > 0) begin : gen_valid
      logic [STAGES-1:0] valid_q;
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          valid_q <= '0;
        end else if (enable) begin
          valid_q <= STAGES'({valid_q, valid_i});
        end
      end
      assign valid_o = valid_q[STAGES-1];
    end else begin : gen_wire
      assign valid_o = valid_i;
    end
  end

endmodule
