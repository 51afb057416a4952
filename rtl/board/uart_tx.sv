// Sender of a serial line: bytes of 8 bits, lowest first, a start bit, a stop bit, no parity.
//
// Latency: 1 cycle to the start bit. Throughput: that of the line, without gaps.

module uart_tx
  import link_pkg::*;
#(
  parameter int CLOCK_HZ = 80_000_000,
  parameter int BAUD = 3_000_000
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  output logic              ready_o,
  input  logic [BYTE_W-1:0] data_i,
  output logic              tx_o
);

  localparam int PARTS = 16;  // of a clock cycle
  localparam int BIT = (CLOCK_HZ + BAUD / (2 * PARTS)) / (BAUD / PARTS);
  localparam int TIME_W = $clog2(BIT + PARTS);
  localparam int BITS = BYTE_W + 2;
  localparam int LEFT_W = $clog2(BITS + 1);

  if (BAUD < PARTS || BIT < 2 * PARTS) begin : gen_check
    initial $fatal(1, "%m: a bit at %0d baud is too short for %0d Hz", BAUD, CLOCK_HZ);
  end

  logic [TIME_W-1:0] count_q;
  logic [LEFT_W-1:0] left_q;  // bits that are not over
  logic [BITS-1:0] line_q;
  logic ends;
  assign ends = count_q < TIME_W'(PARTS);
  assign ready_o = left_q == '0 || (ends && left_q == LEFT_W'(1));
  assign tx_o = line_q[0];

  always_ff @(posedge clk_i) begin
    if (left_q != '0 && !ends) begin
      count_q <= count_q - TIME_W'(PARTS);
    end else begin
      count_q <= (left_q == '0 ? '0 : count_q) + TIME_W'(BIT - PARTS);
      left_q <= left_q == '0 ? '0 : left_q - 1'b1;
      line_q <= {1'b1, line_q[BITS-1:1]};
    end
    if (ready_o && valid_i) begin
      left_q <= LEFT_W'(BITS);
      line_q <= {1'b1, data_i, 1'b0};
    end
    if (!rst_ni) begin
      count_q <= '0;
      left_q <= '0;
      line_q <= '1;
    end
  end

endmodule
