// Receiver of a serial line: bytes of 8 bits, lowest first, a start bit, a stop bit, no parity.
//
// The line is sampled once in the middle of each bit, whose length is kept in sixteenths of a clock
// cycle. A byte is as wide as 9.5 bits from its start to the last sample: baud rates may differ by
// 0.5 / 9.5 - 1 / (9.5 * cycles of a bit), 4 % at 8 cycles a bit.
//
// Latency: a byte is there in the middle of its stop bit. Throughput: that of the line.

module uart_rx
  import link_pkg::*;
#(
  parameter int CLOCK_HZ = 80_000_000,
  parameter int BAUD = 3_000_000
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              rx_i,
  output logic              valid_o,  // for one cycle: a byte
  output logic              error_o,  // for one cycle: what should have been a stop bit was 0
  output logic [BYTE_W-1:0] data_o
);

  localparam int PARTS = 16;  // of a clock cycle
  localparam int LEAST_CYCLES = 8;
  localparam int BIT = (CLOCK_HZ + BAUD / (2 * PARTS)) / (BAUD / PARTS);
  // From the cycle in which the start bit is seen, half a cycle late on average, to its middle
  localparam int HALF = BIT / 2 - PARTS - PARTS / 2;
  localparam int TIME_W = $clog2(BIT + PARTS);
  localparam int INDEX_W = 4;
  localparam logic [INDEX_W-1:0] STOP = 4'd9;

  if (BAUD < PARTS || CLOCK_HZ / LEAST_CYCLES < BAUD) begin : gen_check
    initial $fatal(1, "%m: a bit at %0d baud takes less than %0d cycles of %0d Hz",
                   BAUD, LEAST_CYCLES, CLOCK_HZ);
  end

  logic line_q, meta_q, busy_q, valid_q, error_q, sample;
  logic [TIME_W-1:0] count_q;
  logic [INDEX_W-1:0] index_q;
  logic [BYTE_W-1:0] data_q;
  assign sample = count_q < TIME_W'(PARTS);
  assign valid_o = valid_q;
  assign error_o = error_q;
  assign data_o = data_q;

  always_ff @(posedge clk_i) begin
    meta_q <= rx_i;
    line_q <= meta_q;
    valid_q <= 1'b0;
    error_q <= 1'b0;
    if (!busy_q) begin
      count_q <= TIME_W'(HALF);
      index_q <= '0;
      busy_q <= !line_q;
    end else if (!sample) begin
      count_q <= count_q - TIME_W'(PARTS);
    end else begin
      count_q <= count_q + TIME_W'(BIT - PARTS);
      index_q <= index_q + 1'b1;
      if (index_q == '0) begin
        busy_q <= !line_q;  // a start bit, or noise
      end else if (index_q == STOP) begin
        busy_q <= 1'b0;
        valid_q <= line_q;
        error_q <= !line_q;
      end else begin
        data_q <= {line_q, data_q[BYTE_W-1:1]};
      end
    end
    if (!rst_ni) begin
      meta_q <= 1'b1;
      line_q <= 1'b1;
      busy_q <= 1'b0;
      valid_q <= 1'b0;
      error_q <= 1'b0;
    end
  end

endmodule
