// step_trace is a FIFO: it gives each word that was pushed once, in order, from the promised cycle
// on, says how many there are, and is full exactly when DEPTH words are in it.
//
// Software pops only what is counted, as the registers make sure. `data_i` is free: what a push
// DATA_STAGES steps before brings. Bounded: the steps are enough to fill and empty it, pointers
// running over, several times.

module step_trace_formal #(
  parameter int DEPTH = 4,
  parameter int DATA_STAGES = 0,
  localparam int W = 3,
  localparam int COUNT_W = $clog2(DEPTH) + 1
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic         push_i,
  input logic [W-1:0] data_i,
  input logic         pop_i
);

  logic full;
  logic [W-1:0] data;
  logic [COUNT_W-1:0] count;

  step_trace #(.W(W), .DEPTH(DEPTH), .DATA_STAGES(DATA_STAGES)) u_dut (
    .clk_i, .rst_ni, .push_i, .data_i, .full_o(full), .pop_i, .data_o(data), .count_o(count)
  );

  // A word counts from so many cycles after its push on.
  localparam int DELAY = 4 + DATA_STAGES;
  localparam int NUMBER_W = 6;  // of pushes and pops within the bound

  logic later_q = 1'b0;
  logic popped_q;  // a step ago: data_o is not yet the next word
  logic [NUMBER_W-1:0] pushes_q, pops_q, chosen_q;
  logic [DELAY-1:0][NUMBER_W-1:0] before_q;  // pushes so many steps ago
  logic [DATA_STAGES:0] carried;  // the push of the chosen word, until its data comes
  logic [W-1:0] word_q;
  logic chosen_came_q;
  assign carried[0] = push_i && !full && pushes_q == chosen_q;

  if (DATA_STAGES > 0) begin : gen_carried
    logic [DATA_STAGES-1:0] carried_q;
    always_ff @(posedge clk_i) begin
      carried_q <= rst_ni ? carried[DATA_STAGES-1:0] : '0;
    end
    assign carried[DATA_STAGES:1] = carried_q;
  end

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    chosen_q <= chosen_q;  // any number, which stays
    if (!rst_ni) begin
      pushes_q <= '0;
      pops_q <= '0;
      before_q <= '0;
      chosen_came_q <= 1'b0;
      popped_q <= 1'b0;
    end else begin
      pushes_q <= pushes_q + NUMBER_W'(push_i && !full);
      pops_q <= pops_q + NUMBER_W'(pop_i);
      before_q <= {before_q[DELAY-2:0], pushes_q};
      popped_q <= pop_i;
      if (carried[DATA_STAGES]) begin
        word_q <= data_i;
        chosen_came_q <= 1'b1;
      end
    end
  end

  always_comb begin
    if (!later_q) begin
      assume (!rst_ni);
    end else begin
      assume (!pop_i || count != '0);
      if (rst_ni) begin
        full_when_full: assert (full == (pushes_q - pops_q == NUMBER_W'(DEPTH)));
        counts_in_time: assert (NUMBER_W'(count) == before_q[DELAY-2] - pops_q);
        in_order: assert (count == '0 || popped_q || pops_q != chosen_q ||
                          (chosen_came_q && data == word_q));
      end
    end
  end

endmodule
