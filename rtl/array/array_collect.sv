// The word of the one datapath that says so: a tree of ORs, of groups of datapaths and of these,
// with a register behind each level. Zero if no datapath does; at most one may. No reset.
//
// Latency: COLLECT_STAGES (2) cycles. Throughput: one word a cycle.

module array_collect #(
  parameter int W = 32,
  parameter int DATAPATHS = 2
) (
  input  logic                        clk_i,
  input  logic [DATAPATHS-1:0]        use_i,
  input  logic [DATAPATHS-1:0][W-1:0] data_i,
  output logic [W-1:0]                data_o
);

  localparam int GROUP = 6;
  localparam int GROUPS = DATAPATHS > 1 ? (DATAPATHS + GROUP - 1) / GROUP : 1;
  localparam int PLACES_W = GROUPS * GROUP * W;

  if (DATAPATHS < 1 || GROUPS > GROUP) begin : gen_check
    initial $fatal(1, "%m: DATAPATHS %0d must be 1 to %0d", DATAPATHS, GROUP * GROUP);
  end

  logic [DATAPATHS-1:0][W-1:0] used;
  logic [PLACES_W-1:0] places;
  logic [GROUPS*W-1:0] groups_q;
  logic [W-1:0] data_q;

  for (genvar v = 0; v < DATAPATHS; v++) begin : gen_used
    assign used[v] = data_i[v] & {W{use_i[v]}};
  end
  assign places = PLACES_W'(used);

  function automatic logic [W-1:0] any_of(input logic [GROUP*W-1:0] words);
    logic [W-1:0] all;
    all = '0;
    for (int i = 0; i < GROUP; i++) begin
      all = all | words[W*i+:W];
    end
    return all;
  endfunction

  for (genvar group = 0; group < GROUPS; group++) begin : gen_group
    always_ff @(posedge clk_i) begin
      groups_q[W*group+:W] <= any_of(places[GROUP*W*group+:GROUP*W]);
    end
  end

  always_ff @(posedge clk_i) begin
    data_q <= any_of((GROUP * W)'(groups_q));
  end

  assign data_o = data_q;

endmodule
