// The serial link's words and sizes (docs/board.md): what host and device agree on.
package link_pkg;

  localparam int BYTE_W = 8;
  localparam int WORD_W = 32;
  localparam int WORD_BYTES = 4;

  localparam int VERSION = 1;  // of the protocol

  // Words of a frame at most, checksum included, and frames whose answers are kept
  localparam int FRAME_WORDS = 128;
  localparam int FRAME_W = 7;
  localparam int WINDOW = 4;
  localparam int WINDOW_W = 2;

  localparam int SEQUENCE_W = 8;
  localparam int KIND_W = 8;
  localparam int ADDRESS_W = 16;
  localparam int COUNT_W = 16;

  // Kinds of frames
  localparam logic [KIND_W-1:0] ACCESS = 8'd0;
  localparam logic [KIND_W-1:0] HELLO = 8'd1;

  // Bits of an operation's address that have another meaning: words are aligned
  localparam int OP_WRITE = 0;
  localparam int OP_FIXED = 1;

  // CRC-32 as Ethernet and zlib have it, lowest bit first; RESIDUE is left after a message and its
  // checksum
  localparam logic [WORD_W-1:0] CRC_INITIAL = 32'hffff_ffff;
  localparam logic [WORD_W-1:0] CRC_POLYNOMIAL = 32'hedb8_8320;
  localparam logic [WORD_W-1:0] CRC_RESIDUE = 32'hdebb_20e3;

  function automatic logic [WORD_W-1:0] crc_after(
    input logic [WORD_W-1:0] crc, input logic [BYTE_W-1:0] data
  );
    logic [WORD_W-1:0] next;
    next = crc ^ {{(WORD_W - BYTE_W) {1'b0}}, data};
    for (int i = 0; i < BYTE_W; i++) begin
      next = {1'b0, next[WORD_W-1:1]} ^ (next[0] ? CRC_POLYNOMIAL : '0);
    end
    return next;
  endfunction

endpackage
