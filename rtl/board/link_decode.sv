// Frames out of bytes of the link (docs/board.md): undoes COBS, checks length and CRC, and stores
// the words of a frame in one of two halves of a memory.
//
// A frame that is damaged, too long, or comes while both halves are full is dropped; the next zero
// byte begins anew. A stop bit that was 0 damages the frame it is in.
//
// Latency: a frame is told 1 cycle after the zero byte behind it. Throughput: a byte a cycle.

module link_decode
  import link_pkg::*;
(
  input  logic clk_i,
  input  logic rst_ni,

  input  logic              valid_i,
  input  logic              error_i,
  input  logic [BYTE_W-1:0] data_i,

  input  logic               full_i,   // both halves hold frames
  output logic               frame_o,  // for one cycle: a frame is stored
  output logic [FRAME_W-1:0] words_o,  // that it has, without the checksum

  output logic               write_o,
  output logic [FRAME_W-1:0] address_o,
  output logic [WORD_W-1:0]  data_o
);

  localparam logic [BYTE_W-1:0] LONGEST = 8'hff;  // code of a block that no zero follows
  localparam int SIZE_W = FRAME_W + 1 + $clog2(WORD_BYTES);

  logic [BYTE_W-1:0] left_q;  // bytes up to the next code
  logic [SIZE_W-1:0] size_q;  // bytes of the frame so far
  logic [WORD_W-1:0] crc_q, word_q;
  logic zero_q;  // a zero stands before the next block
  logic bad_q, write_q, frame_q;
  logic [FRAME_W-1:0] address_q, words_q;

  logic is_end, is_code, emit;
  logic [BYTE_W-1:0] emitted;
  assign is_end = valid_i && data_i == '0;
  assign is_code = left_q == '0;
  assign emit = valid_i && !is_end && (!is_code || zero_q);
  assign emitted = is_code ? '0 : data_i;

  assign write_o = write_q;
  assign address_o = address_q;
  assign data_o = word_q;
  assign frame_o = frame_q;
  assign words_o = words_q;

  logic too_long, whole;
  assign too_long = size_q[SIZE_W-1];
  assign whole = is_code && !bad_q && crc_q == CRC_RESIDUE && size_q[1:0] == '0 &&
                 size_q > SIZE_W'(WORD_BYTES);

  always_ff @(posedge clk_i) begin
    write_q <= 1'b0;
    frame_q <= 1'b0;
    if (emit) begin
      word_q <= {emitted, word_q[WORD_W-1:BYTE_W]};
      crc_q <= crc_after(crc_q, emitted);
      size_q <= size_q + 1'b1;
      address_q <= size_q[2+:FRAME_W];
      write_q <= size_q[1:0] == 2'd3 && !bad_q && !too_long && !full_i;
      if (too_long || full_i) begin
        bad_q <= 1'b1;
      end
    end
    if (valid_i && !is_end) begin
      if (is_code) begin
        left_q <= data_i - 1'b1;
        zero_q <= data_i != LONGEST;
      end else begin
        left_q <= left_q - 1'b1;
      end
    end
    if (error_i) begin
      bad_q <= 1'b1;
    end
    if (is_end) begin
      frame_q <= whole;
      words_q <= FRAME_W'((size_q >> 2) - 1'b1);
    end
    if (is_end || !rst_ni) begin
      left_q <= '0;
      zero_q <= 1'b0;
      bad_q <= 1'b0;
      size_q <= '0;
      crc_q <= CRC_INITIAL;
    end
    if (!rst_ni) begin
      write_q <= 1'b0;
      frame_q <= 1'b0;
    end
  end

endmodule
