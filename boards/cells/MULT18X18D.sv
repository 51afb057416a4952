// The multiplier of an ECP5, as far as our flow uses it. Our own text, from what the vendor documents
// (ECP5 and ECP5-5G sysDSP Usage Guide, FPGA-TN-02205); not the vendor's model.
//
// 18 x 18 bits, each factor signed or not, with registers for each factor, behind the multiplier
// (pipeline) and at the output, each with clock, enable and reset of four: the reset is synchronous
// and goes before the enable. A factor's sign bit has its register. Registers are 0 at the start.
//
// CLKn_DIV is ENABLED where a register takes a value at each rising edge, as in all netlists of ours
// and of the vendor's; DISABLED has it do so at both edges.
//
// What is not modelled stops the simulation: other values of parameters as it starts, other uses of
// pins when they come. Not modelled are the third factor, cascades (which have no pins here), shift
// inputs, the fast clock, asynchronous resets.
//
// Latency: as many cycles as there are registers in a row, 0 to 3. Throughput: 1 product a cycle.

module MULT18X18D #(
  parameter REG_INPUTA_CLK = "NONE",
  parameter REG_INPUTA_CE = "CE0",
  parameter REG_INPUTA_RST = "RST0",
  parameter REG_INPUTB_CLK = "NONE",
  parameter REG_INPUTB_CE = "CE0",
  parameter REG_INPUTB_RST = "RST0",
  parameter REG_INPUTC_CLK = "NONE",
  parameter REG_INPUTC_CE = "CE0",
  parameter REG_INPUTC_RST = "RST0",
  parameter REG_PIPELINE_CLK = "NONE",
  parameter REG_PIPELINE_CE = "CE0",
  parameter REG_PIPELINE_RST = "RST0",
  parameter REG_OUTPUT_CLK = "NONE",
  parameter REG_OUTPUT_CE = "CE0",
  parameter REG_OUTPUT_RST = "RST0",
  parameter CLK0_DIV = "ENABLED",
  parameter CLK1_DIV = "ENABLED",
  parameter CLK2_DIV = "ENABLED",
  parameter CLK3_DIV = "ENABLED",
  parameter HIGHSPEED_CLK = "NONE",
  parameter GSR = "ENABLED",
  parameter CAS_MATCH_REG = "FALSE",
  parameter SOURCEB_MODE = "B_SHIFT",
  parameter MULT_BYPASS = "DISABLED",
  parameter RESETMODE = "SYNC"
) (
  input logic A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
  input logic B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
  input logic C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
  input logic SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  input logic CLK3, CLK2, CLK1, CLK0, CE3, CE2, CE1, CE0, RST3, RST2, RST1, RST0,
  output logic P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
    P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);

  localparam int W = 18;

  if (REG_INPUTC_CLK != "NONE" || HIGHSPEED_CLK != "NONE" || MULT_BYPASS != "DISABLED" ||
      CAS_MATCH_REG != "FALSE" || SOURCEB_MODE != "B_SHIFT" || RESETMODE != "SYNC") begin : gen_mode
    initial $fatal(1, "%m: REG_INPUTC_CLK, HIGHSPEED_CLK, MULT_BYPASS, CAS_MATCH_REG, %s",
                   "SOURCEB_MODE or RESETMODE has a value that is not modelled");
  end
  if (CLK0_DIV != "ENABLED" || CLK1_DIV != "ENABLED" || CLK2_DIV != "ENABLED" ||
      CLK3_DIV != "ENABLED") begin : gen_edges
    initial $fatal(1, "%m: CLKn_DIV DISABLED is not modelled");
  end

  logic [W-1:0] a, b;
  assign a = {
    A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0
  };
  assign b = {
    B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0
  };

  // Factors with their signs: as 19 bits that are signed either way
  logic [W:0] factor_a, factor_b;
  mult18x18d_stage #(
    .WIDTH(W + 1),
    .CLK(REG_INPUTA_CLK),
    .CE(REG_INPUTA_CE),
    .RST(REG_INPUTA_RST)
  ) u_a (
    .clks({CLK3, CLK2, CLK1, CLK0}),
    .ces({CE3, CE2, CE1, CE0}),
    .rsts({RST3, RST2, RST1, RST0}),
    .d({SIGNEDA && a[W-1], a}),
    .q(factor_a)
  );
  mult18x18d_stage #(
    .WIDTH(W + 1),
    .CLK(REG_INPUTB_CLK),
    .CE(REG_INPUTB_CE),
    .RST(REG_INPUTB_RST)
  ) u_b (
    .clks({CLK3, CLK2, CLK1, CLK0}),
    .ces({CE3, CE2, CE1, CE0}),
    .rsts({RST3, RST2, RST1, RST0}),
    .d({SIGNEDB && b[W-1], b}),
    .q(factor_b)
  );

  logic [2*W-1:0] product, behind, p;
  assign product = (2 * W)'($signed(factor_a)) * (2 * W)'($signed(factor_b));
  mult18x18d_stage #(
    .WIDTH(2 * W),
    .CLK(REG_PIPELINE_CLK),
    .CE(REG_PIPELINE_CE),
    .RST(REG_PIPELINE_RST)
  ) u_pipeline (
    .clks({CLK3, CLK2, CLK1, CLK0}),
    .ces({CE3, CE2, CE1, CE0}),
    .rsts({RST3, RST2, RST1, RST0}),
    .d(product),
    .q(behind)
  );
  mult18x18d_stage #(
    .WIDTH(2 * W),
    .CLK(REG_OUTPUT_CLK),
    .CE(REG_OUTPUT_CE),
    .RST(REG_OUTPUT_RST)
  ) u_output (
    .clks({CLK3, CLK2, CLK1, CLK0}),
    .ces({CE3, CE2, CE1, CE0}),
    .rsts({RST3, RST2, RST1, RST0}),
    .d(behind),
    .q(p)
  );
  assign {
    P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17,
    P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
  } = p;

`ifndef SYNTHESIS
  always_comb begin
    if (SOURCEA || SOURCEB) begin
      $fatal(1, "%m: SOURCEA or SOURCEB is used, which is not modelled");
    end
  end
`endif

endmodule
