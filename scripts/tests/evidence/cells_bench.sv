// Registers of the cells, and the same in RTL.
module cells_registers (
  input  logic        clk_i,
  input  logic        ce_i,
  input  logic        rst_i,
  input  logic [1:0]  signed_i,
  input  logic [17:0] a_i,
  input  logic [17:0] b_i,
  input  logic        write_i,
  input  logic        read_i,
  input  logic [8:0]  write_at_i,
  input  logic [8:0]  read_at_i,
  input  logic [35:0] data_i,
  output logic [35:0] full_o,      // all registers
  output logic [35:0] full_rtl_o,
  output logic [35:0] factors_o,     // of the factors, with enable and reset
  output logic [35:0] factors_rtl_o,
  output logic [35:0] late_o,      // pipeline and output, with enable and reset
  output logic [35:0] late_rtl_o,
  output logic [35:0] word_o,      // a memory's output register, with enable
  output logic [35:0] word_rtl_o
);

  MULT18X18D #(
    .REG_INPUTA_CLK("CLK0"),
    .REG_INPUTB_CLK("CLK3"),
    .REG_PIPELINE_CLK("CLK0"),
    .REG_OUTPUT_CLK("CLK0")
  ) u_full (
    .A0(a_i[0]), .A1(a_i[1]), .A2(a_i[2]), .A3(a_i[3]), .A4(a_i[4]), .A5(a_i[5]), .A6(a_i[6]),
    .A7(a_i[7]), .A8(a_i[8]), .A9(a_i[9]), .A10(a_i[10]), .A11(a_i[11]), .A12(a_i[12]),
    .A13(a_i[13]), .A14(a_i[14]), .A15(a_i[15]), .A16(a_i[16]), .A17(a_i[17]),
    .B0(b_i[0]), .B1(b_i[1]), .B2(b_i[2]), .B3(b_i[3]), .B4(b_i[4]), .B5(b_i[5]), .B6(b_i[6]),
    .B7(b_i[7]), .B8(b_i[8]), .B9(b_i[9]), .B10(b_i[10]), .B11(b_i[11]), .B12(b_i[12]),
    .B13(b_i[13]), .B14(b_i[14]), .B15(b_i[15]), .B16(b_i[16]), .B17(b_i[17]),
    .SIGNEDA(signed_i[0]), .SIGNEDB(signed_i[1]), .SOURCEA(1'b0), .SOURCEB(1'b0),
    .CLK0(clk_i), .CLK1(1'b0), .CLK2(1'b0), .CLK3(clk_i),
    .CE0(1'b1), .CE1(ce_i), .CE2(1'b0), .CE3(1'b0), .RST0(1'b0), .RST1(rst_i), .RST2(1'b0),
    .RST3(1'b0),
    .P0(full_o[0]), .P1(full_o[1]), .P2(full_o[2]), .P3(full_o[3]), .P4(full_o[4]),
    .P5(full_o[5]), .P6(full_o[6]), .P7(full_o[7]), .P8(full_o[8]), .P9(full_o[9]),
    .P10(full_o[10]), .P11(full_o[11]), .P12(full_o[12]), .P13(full_o[13]), .P14(full_o[14]),
    .P15(full_o[15]), .P16(full_o[16]), .P17(full_o[17]), .P18(full_o[18]), .P19(full_o[19]),
    .P20(full_o[20]), .P21(full_o[21]), .P22(full_o[22]), .P23(full_o[23]), .P24(full_o[24]),
    .P25(full_o[25]), .P26(full_o[26]), .P27(full_o[27]), .P28(full_o[28]), .P29(full_o[29]),
    .P30(full_o[30]), .P31(full_o[31]), .P32(full_o[32]), .P33(full_o[33]), .P34(full_o[34]),
    .P35(full_o[35])
  );

  MULT18X18D #(
    .REG_INPUTA_CLK("CLK0"),
    .REG_INPUTA_CE("CE1"),
    .REG_INPUTA_RST("RST1"),
    .REG_INPUTB_CLK("CLK0"),
    .REG_INPUTB_RST("RST1")
  ) u_input (
    .A0(a_i[0]), .A1(a_i[1]), .A2(a_i[2]), .A3(a_i[3]), .A4(a_i[4]), .A5(a_i[5]), .A6(a_i[6]),
    .A7(a_i[7]), .A8(a_i[8]), .A9(a_i[9]), .A10(a_i[10]), .A11(a_i[11]), .A12(a_i[12]),
    .A13(a_i[13]), .A14(a_i[14]), .A15(a_i[15]), .A16(a_i[16]), .A17(a_i[17]),
    .B0(b_i[0]), .B1(b_i[1]), .B2(b_i[2]), .B3(b_i[3]), .B4(b_i[4]), .B5(b_i[5]), .B6(b_i[6]),
    .B7(b_i[7]), .B8(b_i[8]), .B9(b_i[9]), .B10(b_i[10]), .B11(b_i[11]), .B12(b_i[12]),
    .B13(b_i[13]), .B14(b_i[14]), .B15(b_i[15]), .B16(b_i[16]), .B17(b_i[17]),
    .SIGNEDA(signed_i[0]), .SIGNEDB(signed_i[1]), .SOURCEA(1'b0), .SOURCEB(1'b0),
    .CLK0(clk_i), .CLK1(1'b0), .CLK2(1'b0), .CLK3(clk_i),
    .CE0(1'b1), .CE1(ce_i), .CE2(1'b0), .CE3(1'b0), .RST0(1'b0), .RST1(rst_i), .RST2(1'b0),
    .RST3(1'b0),
    .P0(factors_o[0]), .P1(factors_o[1]), .P2(factors_o[2]), .P3(factors_o[3]), .P4(factors_o[4]),
    .P5(factors_o[5]), .P6(factors_o[6]), .P7(factors_o[7]), .P8(factors_o[8]), .P9(factors_o[9]),
    .P10(factors_o[10]), .P11(factors_o[11]), .P12(factors_o[12]), .P13(factors_o[13]),
    .P14(factors_o[14]), .P15(factors_o[15]), .P16(factors_o[16]), .P17(factors_o[17]),
    .P18(factors_o[18]), .P19(factors_o[19]), .P20(factors_o[20]), .P21(factors_o[21]),
    .P22(factors_o[22]), .P23(factors_o[23]), .P24(factors_o[24]), .P25(factors_o[25]),
    .P26(factors_o[26]), .P27(factors_o[27]), .P28(factors_o[28]), .P29(factors_o[29]),
    .P30(factors_o[30]), .P31(factors_o[31]), .P32(factors_o[32]), .P33(factors_o[33]),
    .P34(factors_o[34]), .P35(factors_o[35])
  );

  MULT18X18D #(
    .REG_PIPELINE_CLK("CLK0"),
    .REG_PIPELINE_CE("CE1"),
    .REG_PIPELINE_RST("RST1"),
    .REG_OUTPUT_CLK("CLK0"),
    .REG_OUTPUT_CE("CE1")
  ) u_late (
    .A0(a_i[0]), .A1(a_i[1]), .A2(a_i[2]), .A3(a_i[3]), .A4(a_i[4]), .A5(a_i[5]), .A6(a_i[6]),
    .A7(a_i[7]), .A8(a_i[8]), .A9(a_i[9]), .A10(a_i[10]), .A11(a_i[11]), .A12(a_i[12]),
    .A13(a_i[13]), .A14(a_i[14]), .A15(a_i[15]), .A16(a_i[16]), .A17(a_i[17]),
    .B0(b_i[0]), .B1(b_i[1]), .B2(b_i[2]), .B3(b_i[3]), .B4(b_i[4]), .B5(b_i[5]), .B6(b_i[6]),
    .B7(b_i[7]), .B8(b_i[8]), .B9(b_i[9]), .B10(b_i[10]), .B11(b_i[11]), .B12(b_i[12]),
    .B13(b_i[13]), .B14(b_i[14]), .B15(b_i[15]), .B16(b_i[16]), .B17(b_i[17]),
    .SIGNEDA(signed_i[0]), .SIGNEDB(signed_i[1]), .SOURCEA(1'b0), .SOURCEB(1'b0),
    .CLK0(clk_i), .CLK1(1'b0), .CLK2(1'b0), .CLK3(clk_i),
    .CE0(1'b1), .CE1(ce_i), .CE2(1'b0), .CE3(1'b0), .RST0(1'b0), .RST1(rst_i), .RST2(1'b0),
    .RST3(1'b0),
    .P0(late_o[0]), .P1(late_o[1]), .P2(late_o[2]), .P3(late_o[3]), .P4(late_o[4]),
    .P5(late_o[5]), .P6(late_o[6]), .P7(late_o[7]), .P8(late_o[8]), .P9(late_o[9]),
    .P10(late_o[10]), .P11(late_o[11]), .P12(late_o[12]), .P13(late_o[13]), .P14(late_o[14]),
    .P15(late_o[15]), .P16(late_o[16]), .P17(late_o[17]), .P18(late_o[18]), .P19(late_o[19]),
    .P20(late_o[20]), .P21(late_o[21]), .P22(late_o[22]), .P23(late_o[23]), .P24(late_o[24]),
    .P25(late_o[25]), .P26(late_o[26]), .P27(late_o[27]), .P28(late_o[28]), .P29(late_o[29]),
    .P30(late_o[30]), .P31(late_o[31]), .P32(late_o[32]), .P33(late_o[33]), .P34(late_o[34]),
    .P35(late_o[35])
  );

  logic [18:0] a, b, full_a_q, full_b_q, input_a_q, input_b_q;
  logic [35:0] full_q, late_q;
  assign a = {signed_i[0] && a_i[17], a_i};
  assign b = {signed_i[1] && b_i[17], b_i};
  assign factors_rtl_o = 36'($signed(input_a_q)) * 36'($signed(input_b_q));
  initial begin
    {full_a_q, full_b_q, input_a_q, input_b_q} = '0;
    {full_q, full_rtl_o, late_q, late_rtl_o} = '0;
  end
  always_ff @(posedge clk_i) begin
    full_a_q <= a;
    full_b_q <= b;
    full_q <= 36'($signed(full_a_q)) * 36'($signed(full_b_q));
    full_rtl_o <= full_q;
    if (rst_i) begin
      input_a_q <= '0;
      input_b_q <= '0;
      late_q <= '0;
    end else begin
      input_b_q <= b;
      if (ce_i) begin
        input_a_q <= a;
        late_q <= 36'($signed(a)) * 36'($signed(b));
      end
    end
    if (ce_i) begin
      late_rtl_o <= late_q;
    end
  end

  logic [13:0] write_at, read_at;
  assign write_at = {write_at_i, 1'b0, {4{write_i}}};
  assign read_at = {read_at_i, 5'd0};
  DP16KD #(
    .DATA_WIDTH_A(36),
    .DATA_WIDTH_B(36),
    .REGMODE_A("OUTREG"),
    .REGMODE_B("OUTREG")
  ) u_memory (
    .ADA0(write_at[0]), .ADA1(write_at[1]), .ADA2(write_at[2]), .ADA3(write_at[3]),
    .ADA4(write_at[4]), .ADA5(write_at[5]), .ADA6(write_at[6]), .ADA7(write_at[7]),
    .ADA8(write_at[8]), .ADA9(write_at[9]), .ADA10(write_at[10]), .ADA11(write_at[11]),
    .ADA12(write_at[12]), .ADA13(write_at[13]),
    .ADB0(read_at[0]), .ADB1(read_at[1]), .ADB2(read_at[2]), .ADB3(read_at[3]),
    .ADB4(read_at[4]), .ADB5(read_at[5]), .ADB6(read_at[6]), .ADB7(read_at[7]),
    .ADB8(read_at[8]), .ADB9(read_at[9]), .ADB10(read_at[10]), .ADB11(read_at[11]),
    .ADB12(read_at[12]), .ADB13(read_at[13]),
    .DIA0(data_i[0]), .DIA1(data_i[1]), .DIA2(data_i[2]), .DIA3(data_i[3]), .DIA4(data_i[4]),
    .DIA5(data_i[5]), .DIA6(data_i[6]), .DIA7(data_i[7]), .DIA8(data_i[8]), .DIA9(data_i[9]),
    .DIA10(data_i[10]), .DIA11(data_i[11]), .DIA12(data_i[12]), .DIA13(data_i[13]),
    .DIA14(data_i[14]), .DIA15(data_i[15]), .DIA16(data_i[16]), .DIA17(data_i[17]),
    .DIB0(data_i[18]), .DIB1(data_i[19]), .DIB2(data_i[20]), .DIB3(data_i[21]),
    .DIB4(data_i[22]), .DIB5(data_i[23]), .DIB6(data_i[24]), .DIB7(data_i[25]),
    .DIB8(data_i[26]), .DIB9(data_i[27]), .DIB10(data_i[28]), .DIB11(data_i[29]),
    .DIB12(data_i[30]), .DIB13(data_i[31]), .DIB14(data_i[32]), .DIB15(data_i[33]),
    .DIB16(data_i[34]), .DIB17(data_i[35]),
    .CLKA(clk_i), .CEA(1'b1), .OCEA(ce_i), .WEA(1'b1), .RSTA(1'b0),
    .CSA0(1'b0), .CSA1(1'b0), .CSA2(1'b0),
    .CLKB(clk_i), .CEB(read_i), .OCEB(ce_i), .WEB(1'b0), .RSTB(1'b0),
    .CSB0(1'b0), .CSB1(1'b0), .CSB2(1'b0),
    .DOA0(word_o[0]), .DOA1(word_o[1]), .DOA2(word_o[2]), .DOA3(word_o[3]), .DOA4(word_o[4]),
    .DOA5(word_o[5]), .DOA6(word_o[6]), .DOA7(word_o[7]), .DOA8(word_o[8]), .DOA9(word_o[9]),
    .DOA10(word_o[10]), .DOA11(word_o[11]), .DOA12(word_o[12]), .DOA13(word_o[13]),
    .DOA14(word_o[14]), .DOA15(word_o[15]), .DOA16(word_o[16]), .DOA17(word_o[17]),
    .DOB0(word_o[18]), .DOB1(word_o[19]), .DOB2(word_o[20]), .DOB3(word_o[21]),
    .DOB4(word_o[22]), .DOB5(word_o[23]), .DOB6(word_o[24]), .DOB7(word_o[25]),
    .DOB8(word_o[26]), .DOB9(word_o[27]), .DOB10(word_o[28]), .DOB11(word_o[29]),
    .DOB12(word_o[30]), .DOB13(word_o[31]), .DOB14(word_o[32]), .DOB15(word_o[33]),
    .DOB16(word_o[34]), .DOB17(word_o[35])
  );
  logic [35:0] memory_q[512];
  logic [35:0] word_q;
  initial begin
    word_q = '0;
    word_rtl_o = '0;
    for (int i = 0; i < 512; i++) begin
      memory_q[i] = '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (write_i) begin
      memory_q[write_at_i] <= data_i;
    end
    if (read_i) begin
      word_q <= memory_q[read_at_i];
    end
    if (ce_i) begin
      word_rtl_o <= word_q;
    end
  end

endmodule

// Random stimulus for both, without bytes that are read while they are written.
module cells_bench;

  localparam int CYCLES = 1000;
  localparam int LEAST = CYCLES / 4;  // words of each output that were compared
  localparam int OUTPUTS = 14;

  logic clk;
  logic [3:0] write;
  logic read, ce, rst;
  logic [1:0] signs;
  logic [13:0] write_at, read_at;
  logic [35:0] data;
  logic [23:0] a, b;

  logic [35:0] wide_gates;
  logic [17:0] half_gates;
  logic [8:0] byte_gates;
  logic [3:0] nibble_gates;
  logic [1:0] pair_gates;
  logic [0:0] bit_gates;
  logic [17:0] before_gates;
  logic [35:0] product_gates;
  logic [35:0] signed_gates;
  logic [47:0] long_gates;
  logic [35:0] wide_rtl;
  logic [17:0] half_rtl;
  logic [8:0] byte_rtl;
  logic [3:0] nibble_rtl;
  logic [1:0] pair_rtl;
  logic [0:0] bit_rtl;
  logic [17:0] before_rtl;
  logic [35:0] product_rtl;
  logic [35:0] signed_rtl;
  logic [47:0] long_rtl;
  cells_mapped_gates u_gates (
    .clk_i(clk), .write_i(write), .read_i(read), .write_at_i(write_at), .read_at_i(read_at),
    .data_i(data), .a_i(a), .b_i(b),
    .wide_o(wide_gates),
    .half_o(half_gates),
    .byte_o(byte_gates),
    .nibble_o(nibble_gates),
    .pair_o(pair_gates),
    .bit_o(bit_gates),
    .before_o(before_gates),
    .product_o(product_gates),
    .signed_o(signed_gates),
    .long_o(long_gates)
  );
  cells_mapped u_rtl (
    .clk_i(clk), .write_i(write), .read_i(read), .write_at_i(write_at), .read_at_i(read_at),
    .data_i(data), .a_i(a), .b_i(b),
    .wide_o(wide_rtl),
    .half_o(half_rtl),
    .byte_o(byte_rtl),
    .nibble_o(nibble_rtl),
    .pair_o(pair_rtl),
    .bit_o(bit_rtl),
    .before_o(before_rtl),
    .product_o(product_rtl),
    .signed_o(signed_rtl),
    .long_o(long_rtl)
  );
  logic [35:0] full, full_rtl;
  logic [35:0] factors, factors_rtl;
  logic [35:0] late, late_rtl;
  logic [35:0] word, word_rtl;
  cells_registers u_registers (
    .clk_i(clk), .ce_i(ce), .rst_i(rst), .signed_i(signs), .a_i(a[17:0]), .b_i(b[17:0]),
    .write_i(write[0]), .read_i(read), .write_at_i(write_at[8:0]), .read_at_i(read_at[8:0]),
    .data_i(data),
    .full_o(full), .full_rtl_o(full_rtl),
    .factors_o(factors), .factors_rtl_o(factors_rtl),
    .late_o(late), .late_rtl_o(late_rtl),
    .word_o(word), .word_rtl_o(word_rtl)
  );

  int counts[OUTPUTS];
  task automatic compare(int index, logic [47:0] found, logic [47:0] expected);
    if (^expected === 1'bx) begin
      // nothing was written there yet
    end else if (found !== expected) begin
      $fatal(1, "output %0d: %h instead of %h", index, found, expected);
    end else begin
      counts[index]++;
    end
  endtask

  // Some places in each memory, neighbours among them, so that what is read has been written
  function automatic logic [13:0] place();
    return {11'($urandom_range(15)) * 11'd137, 3'($urandom)};
  endfunction

  initial begin
    {clk, write, read, ce, rst, signs, write_at, read_at, data, a, b} = '0;
    for (int i = 0; i < OUTPUTS; i++) begin
      counts[i] = 0;
    end
    for (int i = 0; i < CYCLES; i++) begin
      #1;
      compare(0, 48'(wide_gates), 48'(wide_rtl));
      compare(1, 48'(half_gates), 48'(half_rtl));
      compare(2, 48'(byte_gates), 48'(byte_rtl));
      compare(3, 48'(nibble_gates), 48'(nibble_rtl));
      compare(4, 48'(pair_gates), 48'(pair_rtl));
      compare(5, 48'(bit_gates), 48'(bit_rtl));
      compare(6, 48'(before_gates), 48'(before_rtl));
      compare(7, 48'(product_gates), 48'(product_rtl));
      compare(8, 48'(signed_gates), 48'(signed_rtl));
      compare(9, 48'(long_gates), 48'(long_rtl));
      compare(10, 48'(full), 48'(full_rtl));
      compare(11, 48'(factors), 48'(factors_rtl));
      compare(12, 48'(late), 48'(late_rtl));
      compare(13, 48'(word), 48'(word_rtl));
      write = 4'($urandom);
      {read, ce, signs} = 4'($urandom);
      rst = $urandom_range(15) == 0;
      data = {4'($urandom), $urandom};
      a = 24'($urandom);
      b = 24'($urandom);
      write_at = place();
      read_at = place();
      while (read_at[8:3] == write_at[8:3]) begin
        read_at = place();
      end
      #1 clk = 1'b1;
      #1 clk = 1'b0;
    end
    for (int i = 0; i < OUTPUTS; i++) begin
      if (counts[i] < LEAST) begin
        $fatal(1, "output %0d: only %0d words were compared", i, counts[i]);
      end
    end
    $display("%0d cycles are the same", CYCLES);
    $finish;
  end

endmodule
