// step_sequencer: a run does as many steps as it is told, traces and re-bases momenta as many steps
// apart, for every number of 32 bits; what no simulation counts to.
//
// Operands are any that stand. By induction, from any state that the lemmas allow; one context.

module step_sequencer_counts_formal #(
  localparam int BANKS = 4,
  localparam int DEPTH = 2,
  localparam int PROGRAM_DEPTH = 4,
  localparam int TRACE_REGISTERS = 2,
  localparam int COUNT_W = 32,
  localparam int PC_W = $clog2(PROGRAM_DEPTH),
  localparam int ENTRY_W = $clog2(TRACE_REGISTERS),
  localparam int LOCATION_W = $clog2(BANKS) + $clog2(DEPTH)
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  run_i,
  input logic                  clear_i,
  input logic                  fault_i,
  input logic                  full_i,
  input logic [LOCATION_W-1:0] host_location_i
);

  localparam logic [1:0] WORDS = 2'd1;
  localparam logic [1:0] AFTER = 2'd2;
  localparam logic [1:0] END = 2'd3;

  // Any numbers, which stay
  logic [COUNT_W-1:0] steps_q, save_q, every_q;
  logic [PC_W-1:0] main_start_q, special_start_q;
  logic [PC_W:0] main_length_q, special_length_q;
  logic [ENTRY_W-1:0] entry_q;
  logic [ENTRY_W:0] before_q, after_q;

  logic busy, done, start;
  logic [COUNT_W-1:0] steps_done;

  step_sequencer #(
    .BANKS(BANKS), .DEPTH(DEPTH), .PROGRAM_DEPTH(PROGRAM_DEPTH),
    .TRACE_REGISTERS(TRACE_REGISTERS), .CONTEXTS(1)
  ) u_dut (
    .clk_i, .rst_ni, .run_i, .clear_i, .idle_o(), .busy_o(busy), .read_o(), .done_o(done),
    .start_o(start), .steps_done_o(steps_done), .steps_i(steps_q), .save_i(save_q),
    .every_i(every_q), .main_start_i(main_start_q), .main_length_i(main_length_q),
    .special_start_i(special_start_q), .special_length_i(special_length_q), .entry_i(entry_q),
    .before_i(before_q), .after_i(after_q), .fetch_o(), .pc_o(), .load_o(), .access_o(),
    .address_o(), .bank_o(), .context_o(), .fault_i, .push_o(), .full_i, .host_location_i,
    .list_write_i(1'b0), .list_index_i('0), .list_data_i('0), .list_data_o()
  );

  // ---------------------------------------------------------------------------------------------
  // What was begun since
  // ---------------------------------------------------------------------------------------------
  logic later_q = 1'b0;
  logic was_reset_q = 1'b1;
  logic complete_q, entered, saved, special, due_save, due_every;
  logic [COUNT_W-1:0] since_save_q, since_every_q;  // steps since the last one that was traced, ..
  assign entered = u_dut.enter && (start || (busy && u_dut.advance)) &&
                   !(start && steps_q == '0);
  assign saved = u_dut.saved_d;
  assign special = u_dut.special_d;
  assign due_save = save_q != '0 && (start || since_save_q == save_q - 1'b1);
  assign due_every = every_q != '0 && !start && since_every_q == every_q - 1'b1;

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    was_reset_q <= !rst_ni;
    steps_q <= steps_q;
    save_q <= save_q;
    every_q <= every_q;
    main_start_q <= main_start_q;
    special_start_q <= special_start_q;
    main_length_q <= main_length_q;
    special_length_q <= special_length_q;
    entry_q <= entry_q;
    before_q <= before_q;
    after_q <= after_q;
    complete_q <= rst_ni && done && !u_dut.stop;
    if (entered) begin
      since_save_q <= start || saved ? '0 : since_save_q + 1'b1;
      since_every_q <= start || special ? '0 : since_every_q + 1'b1;
    end
  end

  // Steps that are begun or behind, and not counted yet
  logic in_step, fetched_last, executed_last;
  logic [2:0] uncounted;
  assign in_step = u_dut.item_q != END;
  assign fetched_last = u_dut.fetched_valid_q && u_dut.fetched_q == WORDS && u_dut.fetched_last_q;
  assign executed_last = u_dut.executed_valid_q && u_dut.executed_q == WORDS &&
                         u_dut.executed_last_q;
  assign uncounted = 3'(fetched_last) + 3'(executed_last) + 3'(u_dut.step_over_q);

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
      assume (main_length_q != '0 && special_length_q != '0);
    end else begin
      assume (rst_ni && (!was_reset_q || !run_i));
      if (!was_reset_q) begin
        lemma_operands: assert (u_dut.some_save_q == (save_q != '0) &&
                                u_dut.some_every_q == (every_q != '0) &&
                                u_dut.no_step_q == (steps_q == '0) &&
                                u_dut.one_step_q == (steps_q == 1) &&
                                u_dut.one_save_q == (save_q == 1) &&
                                u_dut.one_every_q == (every_q == 1) &&
                                main_length_q != '0 && special_length_q != '0);
        lemma_steps: assert (!busy || steps_done + COUNT_W'(uncounted) +
                             (in_step ? u_dut.steps_left_q - COUNT_W'(u_dut.item_q == AFTER) : '0)
                             == steps_q);
        lemma_last_step: assert (!busy || !in_step || (u_dut.steps_left_q != '0 &&
                                 u_dut.last_step_q == (u_dut.steps_left_q == 1)));
        lemma_order: assert ((!u_dut.executed_valid_q || u_dut.fetched_valid_q) &&
                             (!busy || !u_dut.fetched_valid_q || u_dut.fetched_q != END ||
                              !in_step) &&
                             (!busy || !u_dut.executed_valid_q || u_dut.executed_q != END ||
                              u_dut.fetched_q == END));
        lemma_between_runs: assert (busy || (!u_dut.fetched_valid_q && !u_dut.executed_valid_q &&
                                             !u_dut.step_over_q));
        lemma_save: assert (!busy || !in_step || save_q == '0 ||
                            (since_save_q < save_q &&
                             u_dut.save_left_q == save_q - since_save_q &&
                             u_dut.save_due_q == (u_dut.save_left_q == 1)));
        lemma_every: assert (!busy || !in_step || every_q == '0 ||
                             (since_every_q < every_q &&
                              u_dut.every_left_q == every_q - since_every_q &&
                              u_dut.every_due_q == (u_dut.every_left_q == 1)));
        as_many_steps: assert (!complete_q || steps_done == steps_q);
        traced_so_far_apart: assert (!entered || saved == due_save);
        special_so_far_apart: assert (!entered || special == due_every);
      end else begin
        lemma_reset: assert (!busy && !u_dut.fetched_valid_q && !u_dut.executed_valid_q &&
                             !u_dut.step_over_q && !complete_q &&
                             main_length_q != '0 && special_length_q != '0);
      end
    end
  end

endmodule
