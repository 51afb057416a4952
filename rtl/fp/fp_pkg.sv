// Names shared by the float units.
//
// Flags are five bits in the order of the RISC-V fflags register. Arithmetic rules, the same in
// every unit: round to nearest even; subnormal operands count as zeros of their sign; a result
// that, rounded with an unbounded exponent range, lies below the smallest normal becomes a zero
// of its sign; every NaN result is the canonical quiet NaN. pymodel/arith/fp.py has them as code.

`ifndef FP_MUL_DSP_W
`define FP_MUL_DSP_W 24
`endif

package fp_pkg;

  localparam int FLAGS_W = 5;

  localparam int INEXACT = 0;
  localparam int UNDERFLOW = 1;
  localparam int OVERFLOW = 2;
  localparam int DIV_BY_ZERO = 3;
  localparam int INVALID = 4;

  // Numbers of the units; a row of them (fp_units) is of one of the first two.
  localparam int UNIT_ADD = 0;
  localparam int UNIT_MUL = 1;
  localparam int UNIT_RECIP = 2;
  localparam int UNIT_SINCOS = 3;

  // How a reciprocal divides (fp_recip, fp_recip_stream).
  localparam int RECIP_ARRAY = 0;
  localparam int RECIP_TABLE = 1;
  localparam int RECIP_ITERATIVE = 2;  // fp_recip_stream only
  localparam int RECIP_TABLE_MAX_MAN_W = 23;

  // Register stages a unit can be given.
  localparam int MAX_STAGES = 6;
  localparam int MAX_SINCOS_STAGES = 16;  // with multipliers
  localparam int RECIP_MAX_STAGES = 8;
  localparam int RECIP_ARRAY_MAX_STAGES = 24;  // by RECIP_ARRAY

  // A reciprocal, and a sine and cosine, without multipliers should have so many stages more.
  localparam int LOGIC_STAGES = 11;

  // The wide unsigned factor of the device's multipliers: 24 (x 17, Xilinx 7) or 18 (x 18, ECP5).
  // Synthesis for such a device defines FP_MUL_DSP_W = 18. No result depends on it.
  localparam int DSP_W = `FP_MUL_DSP_W;

  // Ranges of the format parameters.
  localparam int MIN_EXP_W = 4;
  localparam int MAX_EXP_W = 11;
  localparam int MIN_MAN_W = 2;
  localparam int MAX_MAN_W = 52;

endpackage
