// Frames into bytes of the link (docs/board.md): words of a memory, and the CRC behind them, in
// COBS, with a zero byte at the end.
//
// It goes through the bytes three times, three cycles for each: for the checksum, block by block
// for the next zero, and to send.
//
// Latency: 12 cycles for each word, and 3 for each byte of the first block, up to the first byte.
// Throughput: that of the line, but for 3 cycles a byte between blocks.

module link_encode
  import link_pkg::*;
(
  input  logic clk_i,
  input  logic rst_ni,

  input  logic               start_i,
  output logic               ready_o,
  input  logic [FRAME_W-1:0] words_i,  // with `start_i`

  output logic [FRAME_W-1:0] address_o,
  input  logic [WORD_W-1:0]  data_i,  // of two cycles before

  output logic              valid_o,
  input  logic              ready_i,
  output logic [BYTE_W-1:0] data_o
);

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] CHECK = 3'd1;  // the checksum
  localparam logic [2:0] SCAN = 3'd2;  // up to the next zero
  localparam logic [2:0] CODE = 3'd3;
  localparam logic [2:0] COPY = 3'd4;
  localparam logic [2:0] FINISH = 3'd5;

  localparam logic [BYTE_W-1:0] LONGEST = 8'hff;
  localparam int AT_W = FRAME_W + 1 + $clog2(WORD_BYTES);

  logic [2:0] state_q;
  logic [AT_W-1:0] at_q, scan_q, size_q;  // bytes; `size_q` without the checksum
  logic [AT_W-1:0] place, end_of_all;
  logic [BYTE_W-1:0] code_q, left_q;
  logic [WORD_W-1:0] crc_q;
  logic near_q, fetched_q;  // `data_i` will be, and is, the word at `place`
  logic last_q;  // no zero follows the block, and nothing else

  assign ready_o = state_q == IDLE;
  assign place = state_q == SCAN ? scan_q : at_q;
  assign address_o = place[2+:FRAME_W];
  assign end_of_all = size_q + AT_W'(WORD_BYTES);

  logic [WORD_W-1:0] here;
  logic [BYTE_W-1:0] octet;
  assign here = place >= size_q ? ~crc_q : data_i;
  assign octet = here[BYTE_W*32'(place[1:0])+:BYTE_W];

  assign valid_o = state_q == CODE || (state_q == COPY && fetched_q && left_q != '0) ||
                   state_q == FINISH;
  assign data_o = state_q == CODE ? code_q : state_q == COPY ? octet : '0;

  // Another place comes next
  logic ends, moves;
  assign ends = scan_q == end_of_all || code_q == LONGEST;
  assign moves = state_q == IDLE || (state_q == CHECK && fetched_q) ||
                 (state_q == SCAN && (ends || fetched_q)) ||
                 (state_q == COPY && (left_q == '0 || (fetched_q && ready_i)));

  always_ff @(posedge clk_i) begin
    near_q <= !moves;
    fetched_q <= near_q && !moves;
    if (state_q == IDLE) begin
      at_q <= '0;
      scan_q <= '0;
      crc_q <= CRC_INITIAL;
      size_q <= {1'b0, words_i, 2'b00};
      if (start_i) begin
        state_q <= CHECK;
      end
    end else if (state_q == CHECK) begin
      if (fetched_q) begin
        crc_q <= crc_after(crc_q, octet);
        at_q <= at_q + 1'b1;
        if (at_q + 1'b1 == size_q) begin
          at_q <= '0;
          code_q <= BYTE_W'(1);
          state_q <= SCAN;
        end
      end
    end else if (state_q == SCAN) begin
      last_q <= scan_q == end_of_all;
      if (ends) begin
        state_q <= CODE;
      end else if (fetched_q) begin
        scan_q <= scan_q + 1'b1;
        if (octet == '0) begin
          state_q <= CODE;
        end else begin
          code_q <= code_q + 1'b1;
        end
      end
    end else if (state_q == CODE) begin
      left_q <= code_q - 1'b1;
      if (ready_i) begin
        state_q <= COPY;
      end
    end else if (state_q == COPY) begin
      if (left_q == '0) begin
        at_q <= scan_q;
        code_q <= BYTE_W'(1);
        state_q <= last_q ? FINISH : SCAN;
      end else if (fetched_q && ready_i) begin
        left_q <= left_q - 1'b1;
        at_q <= at_q + 1'b1;
      end
    end else if (ready_i) begin
      state_q <= IDLE;
    end
    if (!rst_ni) begin
      state_q <= IDLE;
    end
  end

endmodule
