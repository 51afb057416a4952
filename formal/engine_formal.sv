// hdca_engine and ldup_engine: every run ends, after exactly the cycles that the headers of its
// phase and inverter promise; states exclude each other, and only commands and the end of a run
// change them; a run while busy does nothing.
//
// The float units are cut out (boxes): how long a run takes does not depend on what they give.
// Bounded: the steps hold more than one run, with a reset at any time.

module engine_formal #(
  parameter int ENGINE = 0,
  parameter int PASSES = 2,
  parameter int N = 2,
  parameter int ADD_STAGES = 1,
  parameter int MUL_STAGES = 1,
  parameter int REC_STAGES = 1,
  localparam int HDCA = 0,
  localparam int LDUP_SERIAL = 1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic run_i,
  input logic phase_i,
  input logic clear_i
);

  localparam int EXP_W = 4;
  localparam int MAN_W = 2;

  logic idle, busy, read, done;

  if (ENGINE == HDCA) begin : gen_hdca
    hdca_engine #(
      .EXP_W(EXP_W), .MAN_W(MAN_W), .PASSES(PASSES), .ADD_STAGES(ADD_STAGES),
      .MUL_STAGES(MUL_STAGES), .REC_STAGES(REC_STAGES)
    ) u_dut (
      .clk_i, .rst_ni, .run_i, .phase_i, .clear_i, .idle_o(idle), .busy_o(busy), .read_o(read),
      .done_o(done), .body_a_i('0), .body_b_i('0), .compound_o(), .weight_a_o(), .weight_b_o(),
      .beta_hat_o(), .t_1c_i('0), .t_2c_i('0), .t_1b_o(), .singular_o(), .flags_o()
    );
  end else begin : gen_ldup
    ldup_engine #(
      .N(N), .PARALLEL(ENGINE != LDUP_SERIAL), .EXP_W(EXP_W), .MAN_W(MAN_W),
      .ADD_STAGES(ADD_STAGES), .MUL_STAGES(MUL_STAGES), .REC_STAGES(REC_STAGES)
    ) u_dut (
      .clk_i, .rst_ni, .run_i, .clear_i, .idle_o(idle), .busy_o(busy), .read_o(read),
      .done_o(done), .a_i('0), .y_o(), .singular_o(), .flags_o()
    );
  end

  // ---------------------------------------------------------------------------------------------
  // Latencies, from the headers
  // ---------------------------------------------------------------------------------------------
  localparam int PASS_1 = 5 * ADD_STAGES + 4 * MUL_STAGES + REC_STAGES + 1;
  localparam int PASS_2 = 2 * ADD_STAGES + MUL_STAGES + 1;
  localparam int ASSEMBLY = PASSES == 1 ? PASS_1 : PASS_1 + PASS_2;
  localparam int DISASSEMBLY = 3 * ADD_STAGES + MUL_STAGES + 1;
  localparam int TREE = $clog2(N) * ADD_STAGES;
  localparam int SERIAL =
      N * (REC_STAGES + 1) + N * (N - 1) / 2 * (2 * MUL_STAGES + ADD_STAGES + 1) +
      2 * (N - 1) * (MUL_STAGES + 1) + N * (2 * N - 1) * (MUL_STAGES + TREE + 1) + N - 1;
  // Of N = 2, whose triangular inverses have no sums
  localparam int STEP = REC_STAGES + 2 * MUL_STAGES + ADD_STAGES;
  localparam int PARALLEL = (N - 2) * STEP + STEP + REC_STAGES + 2 * MUL_STAGES + TREE + 1;
  localparam int TIME_W = 8;

  logic later_q = 1'b0;
  logic phase_q, was_reset_q, was_busy_q, was_read_q, was_done_q, was_run_q, was_command_q;
  logic [TIME_W-1:0] cycles_q, latency;  // busy cycles before this one
  assign latency = ENGINE == HDCA ? (phase_q ? TIME_W'(DISASSEMBLY) : TIME_W'(ASSEMBLY))
                   : ENGINE == LDUP_SERIAL ? TIME_W'(SERIAL) : TIME_W'(PARALLEL);

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    was_reset_q <= !rst_ni;
    was_busy_q <= busy;
    was_read_q <= read;
    was_done_q <= done;
    was_run_q <= run_i;
    was_command_q <= run_i || clear_i;
    cycles_q <= rst_ni && busy ? cycles_q + 1'b1 : '0;
    if (run_i && !busy) begin
      phase_q <= phase_i;
    end
  end

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
    end else begin
      one_state: assert ({1'b0, idle} + {1'b0, busy} + {1'b0, read} == 2'd1);
      reset_is_idle: assert (!was_reset_q || idle);
      done_while_busy: assert (!done || busy);
      ends_in_time: assert (!busy || cycles_q < latency);
      length: assert (!done || cycles_q + 1'b1 == latency);
      if (!was_reset_q) begin
        run_starts: assert (was_busy_q || !was_run_q || busy);
        run_only_asked: assert (!busy || was_busy_q || was_run_q);
        run_stays: assert (!was_busy_q || was_done_q || busy);
        run_ends: assert (!was_done_q || read);
        read_stays: assert (!was_read_q || was_command_q || read);
        clear_is_idle: assert (!was_read_q || was_run_q || !was_command_q || idle);
      end
    end
  end

endmodule
