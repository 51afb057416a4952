// For Yosys' techmap: a multiplexer that always takes the same input as a wire, and registers.
module \$mux (A, B, S, Y);
  parameter WIDTH = 1;
  parameter _TECHMAP_CONSTMSK_S_ = 0;
  parameter _TECHMAP_CONSTVAL_S_ = 0;

  input [WIDTH-1:0] A;
  input [WIDTH-1:0] B;
  input S;
  output [WIDTH-1:0] Y;

  wire _TECHMAP_FAIL_ = _TECHMAP_CONSTMSK_S_ !== 1'b1 || _TECHMAP_CONSTVAL_S_ === 1'bx;
  assign Y = _TECHMAP_CONSTVAL_S_ === 1'b1 ? B : A;
endmodule

module \$dff (CLK, D, Q);
  parameter CLK_POLARITY = 1;
  parameter WIDTH = 1;

  input CLK;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;

  assign Q = D;
endmodule

module \$dffe (CLK, EN, D, Q);
  parameter CLK_POLARITY = 1;
  parameter EN_POLARITY = 1;
  parameter WIDTH = 1;

  input CLK;
  input EN;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;

  assign Q = D;
endmodule
