// step_sequencer: every run ends, after as many cycles, words, traced registers and steps as its
// operands say; its states exclude each other, and only commands and the end of a run change them.
//
// Operands are free within MOST_STEPS steps, MOST_WORDS words a segment and one register to trace
// before and after a step, and stand from the cycle before the run on. Bounded, but the bound is
// longer than any such run: a full trace makes it wait for at most MOST_WAITS cycles, all in all.

module step_sequencer_formal #(
  parameter int CONTEXTS = 1,
  localparam int BANKS = 4,
  localparam int DEPTH = 2,
  localparam int PROGRAM_DEPTH = 4,
  localparam int TRACE_REGISTERS = 2,
  localparam int COUNT_W = 32,
  localparam int PC_W = $clog2(PROGRAM_DEPTH),
  localparam int ENTRY_W = $clog2(TRACE_REGISTERS),
  localparam int LOCATION_W = $clog2(BANKS) + $clog2(CONTEXTS * DEPTH),
  localparam int MOST_STEPS = 2,
  localparam int MOST_WORDS = 2,
  localparam int MOST_WAITS = 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  run_i,
  input logic                  clear_i,
  input logic [1:0]            steps_i,
  input logic [1:0]            save_i,
  input logic [1:0]            every_i,
  input logic [PC_W-1:0]       main_start_i,
  input logic [PC_W:0]         main_length_i,
  input logic [PC_W-1:0]       special_start_i,
  input logic [PC_W:0]         special_length_i,
  input logic [ENTRY_W-1:0]    entry_i,
  input logic [ENTRY_W:0]      before_i,
  input logic [ENTRY_W:0]      after_i,
  input logic                  fault_i,
  input logic                  full_i,
  input logic [LOCATION_W-1:0] host_location_i
);

  logic idle, busy, read, done, start, push, load, access, fetch;
  logic [COUNT_W-1:0] steps_done;
  logic [PC_W-1:0] pc;

  // Operands that stand
  logic [1:0] steps_q, save_q, every_q;
  logic [PC_W-1:0] main_start_q, special_start_q;
  logic [PC_W:0] main_length_q, special_length_q;
  logic [ENTRY_W-1:0] entry_q;
  logic [ENTRY_W:0] before_q, after_q;
  logic later_q = 1'b0;

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    if (!later_q) begin
      steps_q <= steps_i;
      save_q <= save_i;
      every_q <= every_i;
      main_start_q <= main_start_i;
      main_length_q <= main_length_i;
      special_start_q <= special_start_i;
      special_length_q <= special_length_i;
      entry_q <= entry_i;
      before_q <= before_i;
      after_q <= after_i;
    end
  end

  step_sequencer #(
    .BANKS(BANKS), .DEPTH(DEPTH), .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .TRACE_REGISTERS(TRACE_REGISTERS), .CONTEXTS(CONTEXTS)
  ) u_dut (
    .clk_i, .rst_ni, .run_i, .clear_i, .idle_o(idle), .busy_o(busy), .read_o(read),
    .done_o(done), .start_o(start), .steps_done_o(steps_done), .steps_i(COUNT_W'(steps_q)),
    .save_i(COUNT_W'(save_q)), .every_i(COUNT_W'(every_q)), .main_start_i(main_start_q),
    .main_length_i(main_length_q), .special_start_i(special_start_q),
    .special_length_i(special_length_q), .entry_i(entry_q), .before_i(before_q),
    .after_i(after_q), .fetch_o(fetch), .pc_o(pc), .load_o(load), .access_o(access),
    .address_o(), .bank_o(), .context_o(), .fault_i, .push_o(push), .full_i, .host_location_i,
    .list_write_i(1'b0), .list_index_i('0), .list_data_i('0), .list_data_o()
  );

  // ---------------------------------------------------------------------------------------------
  // What a run is to be
  // ---------------------------------------------------------------------------------------------
  localparam int TOTAL_W = 8;

  logic [TOTAL_W-1:0] words, traced, settled;
  always_comb begin
    words = '0;
    traced = '0;
    settled = '0;
    for (int step = 0; step < MOST_STEPS; step++) begin
      if (step < 32'(steps_q)) begin
        words = words + TOTAL_W'(every_q != '0 && step > 0 && step % 32'(every_q) == 0
                                 ? special_length_q : main_length_q);
        if (save_q != '0 && step % 32'(save_q) == 0) begin
          traced = traced + TOTAL_W'(before_q) + TOTAL_W'(after_q);
          // A register that is traced right behind a step waits for a cycle, with contexts.
          settled = settled + TOTAL_W'(after_q != '0);
        end
        if (step > 0 && save_q != '0 && step % 32'(save_q) == 0 && before_q != '0 &&
            !((step - 1) % 32'(save_q) == 0 && after_q != '0)) begin
          settled = settled + 1'b1;
        end
      end
    end
  end

  logic [TOTAL_W-1:0] cycles_q, waits_q, pushes_q, expected;
  logic faulty_q, was_idle_q, was_busy_q, was_read_q, was_done_q, was_start_q, was_clear_q;
  logic was_reset_q;
  assign expected = TOTAL_W'(3) + words * TOTAL_W'(CONTEXTS) + traced +
                    (CONTEXTS > 1 ? settled : '0);

  always_ff @(posedge clk_i) begin
    was_idle_q <= idle;
    was_busy_q <= busy;
    was_read_q <= read;
    was_done_q <= done;
    was_start_q <= run_i && !busy;
    was_clear_q <= clear_i || run_i;
    was_reset_q <= !rst_ni;
    if (!rst_ni || start) begin
      cycles_q <= '0;
      waits_q <= '0;
      pushes_q <= '0;
      faulty_q <= 1'b0;
    end else begin
      cycles_q <= cycles_q + TOTAL_W'(busy);
      waits_q <= waits_q + TOTAL_W'(busy && full_i);
      pushes_q <= pushes_q + TOTAL_W'(push && !full_i);
      faulty_q <= faulty_q || fault_i;
    end
  end

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
      assume (main_length_i != '0 && main_length_i <= MOST_WORDS);
      assume (special_length_i != '0 && special_length_i <= MOST_WORDS);
      assume (steps_i <= MOST_STEPS && before_i <= 1 && after_i <= 1);
    end else begin
      assume (rst_ni && (!was_reset_q || !run_i));
      assume (waits_q < TOTAL_W'(MOST_WAITS) || !full_i);
      one_state: assert (was_reset_q || idle + busy + read == 2'd1);
      run_starts: assert (was_reset_q || !was_start_q || busy);
      run_stays: assert (was_reset_q || !was_busy_q || was_done_q || busy);
      run_ends: assert (was_reset_q || !was_done_q || read);
      read_stays: assert (was_reset_q || !was_read_q || was_clear_q || read);
      done_while_busy: assert (!done || busy);
      ends_in_time: assert (!busy || cycles_q < expected + waits_q);
      length: assert (!done || faulty_q || fault_i ||
                      (cycles_q + 1'b1 >= expected && cycles_q + 1'b1 <= expected + waits_q));
      all_steps: assert (!(read && was_done_q) || faulty_q || steps_done == COUNT_W'(steps_q));
      all_traced: assert (!(read && was_done_q) || faulty_q || pushes_q == traced);
      no_step_invented: assert (!busy || steps_done <= COUNT_W'(steps_q));
    end
  end

endmodule
