// For Yosys' techmap: a comparison of signals that are the same ones is true.
module \$eqx (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_BITS_CONNMAP_ = 1;
  parameter [A_WIDTH*_TECHMAP_BITS_CONNMAP_-1:0] _TECHMAP_CONNMAP_A_ = 0;
  parameter [B_WIDTH*_TECHMAP_BITS_CONNMAP_-1:0] _TECHMAP_CONNMAP_B_ = 0;

  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output Y;

  wire _TECHMAP_FAIL_ = A_WIDTH != B_WIDTH || _TECHMAP_CONNMAP_A_ != _TECHMAP_CONNMAP_B_;
  assign Y = 1'b1;
endmodule
