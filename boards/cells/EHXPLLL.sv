// The PLL of an ECP5, as far as our flow uses it. Our own text; not the vendor's model.
//
// It has no frequencies: the bench drives CLKI with the clock that the PLL is to give, and CLKOP
// is that. LOCK rises after LOCKED cycles. What ecppll makes is taken: one output, in use, that is
// fed back. Other values of parameters stop the simulation as it starts, other pins are not there.
//
// Latency: none. Throughput: none.

module EHXPLLL #(
  parameter int CLKI_DIV = 1,
  parameter int CLKFB_DIV = 1,
  parameter int CLKOP_DIV = 8,
  parameter int CLKOP_CPHASE = 0,
  parameter int CLKOP_FPHASE = 0,
  parameter CLKOP_ENABLE = "ENABLED",
  parameter FEEDBK_PATH = "CLKOP",
  parameter PLLRST_ENA = "DISABLED",
  parameter INTFB_WAKE = "DISABLED",
  parameter STDBY_ENABLE = "DISABLED",
  parameter DPHASE_SOURCE = "DISABLED",
  parameter OUTDIVIDER_MUXA = "DIVA",
  parameter OUTDIVIDER_MUXB = "DIVB",
  parameter OUTDIVIDER_MUXC = "DIVC",
  parameter OUTDIVIDER_MUXD = "DIVD"
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic RST,
  input  logic STDBY,
  input  logic PHASESEL0,
  input  logic PHASESEL1,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic PLLWAKESYNC,
  input  logic ENCLKOP,
  output logic CLKOP,
  output logic CLKINTFB,
  output logic LOCK
);

  localparam int LOCKED = 16;

  if (CLKOP_ENABLE != "ENABLED" || FEEDBK_PATH != "CLKOP" || PLLRST_ENA != "DISABLED" ||
      STDBY_ENABLE != "DISABLED" || DPHASE_SOURCE != "DISABLED") begin : gen_check
    initial $fatal(1, "%m: CLKOP_ENABLE, FEEDBK_PATH, PLLRST_ENA, STDBY_ENABLE or %s",
                   "DPHASE_SOURCE has a value that is not modelled");
  end
  if (CLKI_DIV < 1 || CLKFB_DIV < 1 || CLKOP_DIV < 1) begin : gen_dividers
    initial $fatal(1, "%m: dividers %0d, %0d, %0d", CLKI_DIV, CLKFB_DIV, CLKOP_DIV);
  end

  logic [$clog2(LOCKED+1)-1:0] cycles_q;
  initial cycles_q = '0;
  always_ff @(posedge CLKI) begin
    if (!LOCK) begin
      cycles_q <= cycles_q + 1'b1;
    end
  end
  assign LOCK = cycles_q == LOCKED;
  assign CLKOP = CLKI;
  assign CLKINTFB = CLKI;

endmodule
