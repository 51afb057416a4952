// A register of MULT18X18D, or none: which of four clocks, enables and resets it has, by their names.
//
// Latency: 1 cycle, 0 with CLK = "NONE". Throughput: 1 value a cycle.

module mult18x18d_stage #(
  parameter int WIDTH = 36,
  parameter CLK = "NONE",
  parameter CE = "CE0",
  parameter RST = "RST0"
) (
  input  logic [3:0]       clks,
  input  logic [3:0]       ces,
  input  logic [3:0]       rsts,
  input  logic [WIDTH-1:0] d,
  output logic [WIDTH-1:0] q
);

  localparam int CLOCK = CLK == "CLK0" ? 0 : CLK == "CLK1" ? 1 : CLK == "CLK2" ? 2 : 3;
  localparam int ENABLE = CE == "CE0" ? 0 : CE == "CE1" ? 1 : CE == "CE2" ? 2 : 3;
  localparam int RESET = RST == "RST0" ? 0 : RST == "RST1" ? 1 : RST == "RST2" ? 2 : 3;

  if (CLK == "NONE") begin : gen_none
    assign q = d;
  end else if ((CLOCK == 3 && CLK != "CLK3") || (ENABLE == 3 && CE != "CE3") ||
               (RESET == 3 && RST != "RST3")) begin : gen_check
    initial $fatal(1, "%m: CLK %s, CE %s or RST %s is not modelled", CLK, CE, RST);
  end else begin : gen_register
    initial q = '0;
    always_ff @(posedge clks[CLOCK]) begin
      if (rsts[RESET]) begin
        q <= '0;
      end else if (ces[ENABLE]) begin
        q <= d;
      end
    end
  end

endmodule
