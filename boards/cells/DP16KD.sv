// The block RAM of an ECP5, as far as our flow uses it. Our own text, from what the vendor documents
// (ECP5 and ECP5-5G Memory Usage Guide, FPGA-TN-02204) and from Yosys' mapping rules
// (share/lattice/brams_16kd.txt); not the vendor's model.
//
// 1024 words of 18 bits, or 2048 bytes of 9. Port A writes, and reads when it does not; port B reads.
// 36 bits are both ports' data pins: A's are the low half. Both ports have one clock, which whoever
// makes the netlist has to see to. What a read gives while the other port writes there is random,
// as the guide calls it undefined. Port A's own output while it writes: NORMAL keeps it,
// READBEFOREWRITE gives the word before.
//
// What is not modelled stops the simulation: other values of parameters as it starts, other uses of
// pins when they come. Not modelled are resets, chip selects, writes of port B, WRITETHROUGH.
//
// Latency: 1 cycle, 2 with OUTREG. Throughput: 1 access a cycle and port.

module DP16KD #(
  parameter int DATA_WIDTH_A = 18,
  parameter int DATA_WIDTH_B = 18,
  parameter REGMODE_A = "NOREG",
  parameter REGMODE_B = "NOREG",
  parameter RESETMODE = "SYNC",
  parameter ASYNC_RESET_RELEASE = "SYNC",
  parameter CSDECODE_A = "0b000",
  parameter CSDECODE_B = "0b000",
  parameter WRITEMODE_A = "NORMAL",
  parameter WRITEMODE_B = "NORMAL",
  parameter CLKAMUX = "CLKA",
  parameter CLKBMUX = "CLKB",
  parameter GSR = "ENABLED",
  parameter logic [319:0] INITVAL_00 = '0,
  parameter logic [319:0] INITVAL_01 = '0,
  parameter logic [319:0] INITVAL_02 = '0,
  parameter logic [319:0] INITVAL_03 = '0,
  parameter logic [319:0] INITVAL_04 = '0,
  parameter logic [319:0] INITVAL_05 = '0,
  parameter logic [319:0] INITVAL_06 = '0,
  parameter logic [319:0] INITVAL_07 = '0,
  parameter logic [319:0] INITVAL_08 = '0,
  parameter logic [319:0] INITVAL_09 = '0,
  parameter logic [319:0] INITVAL_0A = '0,
  parameter logic [319:0] INITVAL_0B = '0,
  parameter logic [319:0] INITVAL_0C = '0,
  parameter logic [319:0] INITVAL_0D = '0,
  parameter logic [319:0] INITVAL_0E = '0,
  parameter logic [319:0] INITVAL_0F = '0,
  parameter logic [319:0] INITVAL_10 = '0,
  parameter logic [319:0] INITVAL_11 = '0,
  parameter logic [319:0] INITVAL_12 = '0,
  parameter logic [319:0] INITVAL_13 = '0,
  parameter logic [319:0] INITVAL_14 = '0,
  parameter logic [319:0] INITVAL_15 = '0,
  parameter logic [319:0] INITVAL_16 = '0,
  parameter logic [319:0] INITVAL_17 = '0,
  parameter logic [319:0] INITVAL_18 = '0,
  parameter logic [319:0] INITVAL_19 = '0,
  parameter logic [319:0] INITVAL_1A = '0,
  parameter logic [319:0] INITVAL_1B = '0,
  parameter logic [319:0] INITVAL_1C = '0,
  parameter logic [319:0] INITVAL_1D = '0,
  parameter logic [319:0] INITVAL_1E = '0,
  parameter logic [319:0] INITVAL_1F = '0,
  parameter logic [319:0] INITVAL_20 = '0,
  parameter logic [319:0] INITVAL_21 = '0,
  parameter logic [319:0] INITVAL_22 = '0,
  parameter logic [319:0] INITVAL_23 = '0,
  parameter logic [319:0] INITVAL_24 = '0,
  parameter logic [319:0] INITVAL_25 = '0,
  parameter logic [319:0] INITVAL_26 = '0,
  parameter logic [319:0] INITVAL_27 = '0,
  parameter logic [319:0] INITVAL_28 = '0,
  parameter logic [319:0] INITVAL_29 = '0,
  parameter logic [319:0] INITVAL_2A = '0,
  parameter logic [319:0] INITVAL_2B = '0,
  parameter logic [319:0] INITVAL_2C = '0,
  parameter logic [319:0] INITVAL_2D = '0,
  parameter logic [319:0] INITVAL_2E = '0,
  parameter logic [319:0] INITVAL_2F = '0,
  parameter logic [319:0] INITVAL_30 = '0,
  parameter logic [319:0] INITVAL_31 = '0,
  parameter logic [319:0] INITVAL_32 = '0,
  parameter logic [319:0] INITVAL_33 = '0,
  parameter logic [319:0] INITVAL_34 = '0,
  parameter logic [319:0] INITVAL_35 = '0,
  parameter logic [319:0] INITVAL_36 = '0,
  parameter logic [319:0] INITVAL_37 = '0,
  parameter logic [319:0] INITVAL_38 = '0,
  parameter logic [319:0] INITVAL_39 = '0,
  parameter logic [319:0] INITVAL_3A = '0,
  parameter logic [319:0] INITVAL_3B = '0,
  parameter logic [319:0] INITVAL_3C = '0,
  parameter logic [319:0] INITVAL_3D = '0,
  parameter logic [319:0] INITVAL_3E = '0,
  parameter logic [319:0] INITVAL_3F = '0
) (
  input logic DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6,
    DIA5, DIA4, DIA3, DIA2, DIA1, DIA0,
  input logic ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1,
    ADA0,
  input logic CLKA, CEA, OCEA, WEA, RSTA, CSA2, CSA1, CSA0,
  input logic DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6,
    DIB5, DIB4, DIB3, DIB2, DIB1, DIB0,
  input logic ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1,
    ADB0,
  input logic CLKB, CEB, OCEB, WEB, RSTB, CSB2, CSB1, CSB0,
  output logic DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6,
    DOA5, DOA4, DOA3, DOA2, DOA1, DOA0,
  output logic DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6,
    DOB5, DOB4, DOB3, DOB2, DOB1, DOB0
);

  localparam int BYTE_W = 9;
  localparam int BYTES = 2048;
  localparam int HALF_W = 2 * BYTE_W;
  localparam int WIDE_W = 2 * HALF_W;
  localparam int ADDRESS_W = 14;

  function automatic bit is_width(int width);
    return width == 1 || width == 2 || width == 4 || width == BYTE_W || width == HALF_W ||
           width == WIDE_W;
  endfunction

  if (!is_width(DATA_WIDTH_A) || !is_width(DATA_WIDTH_B)) begin : gen_width
    initial $fatal(1, "%m: DATA_WIDTH_A %0d, DATA_WIDTH_B %0d", DATA_WIDTH_A, DATA_WIDTH_B);
  end
  if (REGMODE_A != "NOREG" && REGMODE_A != "OUTREG") begin : gen_regmode_a
    initial $fatal(1, "%m: REGMODE_A %s is not modelled", REGMODE_A);
  end
  if (REGMODE_B != "NOREG" && REGMODE_B != "OUTREG") begin : gen_regmode_b
    initial $fatal(1, "%m: REGMODE_B %s is not modelled", REGMODE_B);
  end
  if (WRITEMODE_A != "NORMAL" && WRITEMODE_A != "READBEFOREWRITE") begin : gen_writemode
    initial $fatal(1, "%m: WRITEMODE_A %s is not modelled", WRITEMODE_A);
  end
  if (DATA_WIDTH_B == WIDE_W && REGMODE_A != REGMODE_B) begin : gen_halves
    initial $fatal(1, "%m: the halves of a word have REGMODE_A %s, REGMODE_B %s", REGMODE_A,
                   REGMODE_B);
  end
  if (CSDECODE_A != "0b000" || CSDECODE_B != "0b000") begin : gen_select
    initial $fatal(1, "%m: CSDECODE_A %s, CSDECODE_B %s", CSDECODE_A, CSDECODE_B);
  end
  if (CLKAMUX != "CLKA" || CLKBMUX != "CLKB") begin : gen_clock
    initial $fatal(1, "%m: CLKAMUX %s, CLKBMUX %s are not modelled", CLKAMUX, CLKBMUX);
  end

  logic [HALF_W-1:0] di_a;
  logic [HALF_W-1:0] di_b;
  logic [ADDRESS_W-1:0] ad_a, ad_b;
  assign di_a = {
    DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
    DIA3, DIA2, DIA1, DIA0
  };
  assign di_b = {
    DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
    DIB3, DIB2, DIB1, DIB0
  };
  assign ad_a = {
    ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0
  };
  assign ad_b = {
    ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0
  };

  // ---------------------------------------------------------------------------------------------
  // The bytes. An address counts bits of eight in a byte: the ninth is reached from BYTE_W on.
  // ---------------------------------------------------------------------------------------------
  logic [BYTE_W-1:0] memory_q[BYTES];

  localparam logic [64*320-1:0] INITIAL = {
    INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38,
    INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30,
    INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
    INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20,
    INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
    INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
    INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
    INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00
  };
  localparam int STORED_W = 20;  // bits of the parameters for a word of HALF_W

  if (INITIAL == '0) begin : gen_zero
    initial begin
      for (int i = 0; i < BYTES; i++) memory_q[i] = '0;
    end
  end else begin : gen_initial
    initial begin
      for (int i = 0; i < BYTES / 2; i++) begin
        {memory_q[2*i+1], memory_q[2*i]} = INITIAL[STORED_W*i+:HALF_W];
      end
    end
  end

  function automatic logic [ADDRESS_W-4:0] first_byte(int width, logic [ADDRESS_W-1:0] address);
    return width == WIDE_W ? {address[ADDRESS_W-1:5], 2'b00} :
           width == HALF_W ? {address[ADDRESS_W-1:4], 1'b0} : address[ADDRESS_W-1:3];
  endfunction

  // The bits of a byte that a narrow port has at an address
  function automatic logic [2:0] first_bit(int width, logic [ADDRESS_W-1:0] address);
    return width == 1 ? address[2:0] : width == 2 ? {address[2:1], 1'b0} : {address[2], 2'b00};
  endfunction

  function automatic logic [WIDE_W-1:0] word_at(int width, logic [ADDRESS_W-1:0] address);
    logic [ADDRESS_W-4:0] at;
    logic [WIDE_W-1:0] word;
    at = first_byte(width, address);
    word = '0;
    if (width >= BYTE_W) begin
      for (int i = 0; i < WIDE_W / BYTE_W; i++) begin
        if (BYTE_W * i < width) word[BYTE_W*i+:BYTE_W] = memory_q[at+i[ADDRESS_W-4:0]];
      end
    end else begin
      for (int i = 0; i < 4; i++) begin
        if (i < width) word[i] = memory_q[at][32'(first_bit(width, address))+i];
      end
    end
    return word;
  endfunction

  // ---------------------------------------------------------------------------------------------
  // Port A's write: which bytes, and their values
  // ---------------------------------------------------------------------------------------------
  logic writes;
  logic [ADDRESS_W-4:0] at_a;
  logic [3:0] enables;  // of bytes
  logic [WIDE_W-1:0] data;
  assign at_a = first_byte(DATA_WIDTH_A, ad_a);
  assign writes = WEA && CEA;
  assign enables = DATA_WIDTH_A == WIDE_W ? ad_a[3:0] :
                   DATA_WIDTH_A == HALF_W ? {2'b00, ad_a[1:0]} : 4'b0001;
  assign data = {di_b, di_a};

  always_ff @(posedge CLKA) begin
    if (writes && DATA_WIDTH_A >= BYTE_W) begin
      for (int i = 0; i < WIDE_W / BYTE_W; i++) begin
        if (enables[i]) memory_q[at_a+i[ADDRESS_W-4:0]] <= data[BYTE_W*i+:BYTE_W];
      end
    end else if (writes) begin
      for (int i = 0; i < 4; i++) begin
        if (i < DATA_WIDTH_A) memory_q[at_a][32'(first_bit(DATA_WIDTH_A, ad_a))+i] <= data[i];
      end
    end
    if (RSTA || CSA2 || CSA1 || CSA0) begin
      $fatal(1, "%m: RSTA or CSA is used, which is not modelled");
    end
  end

  // Bytes that port A writes in this cycle
  function automatic logic is_written(logic [ADDRESS_W-4:0] at);
    logic [ADDRESS_W-4:0] place;
    place = at - at_a;
    return writes && place < 4 && enables[place[1:0]];
  endfunction

  // ---------------------------------------------------------------------------------------------
  // Reads
  // ---------------------------------------------------------------------------------------------
  logic [WIDE_W-1:0] latch_a_q, latch_b_q, out_a_q, out_b_q, do_a, do_b;
  initial {latch_a_q, latch_b_q, out_a_q, out_b_q} = '0;

  always_ff @(posedge CLKA) begin
    if (CEA && (!WEA || WRITEMODE_A == "READBEFOREWRITE")) begin
      latch_a_q <= word_at(DATA_WIDTH_A, ad_a);
    end
    if (OCEA) begin
      out_a_q <= latch_a_q;
    end
  end

  logic [ADDRESS_W-4:0] at_b;
  assign at_b = first_byte(DATA_WIDTH_B, ad_b);

  always_ff @(posedge CLKB) begin
    if (CEB) begin
      latch_b_q <= word_at(DATA_WIDTH_B, ad_b);
      for (int i = 0; i < WIDE_W / BYTE_W; i++) begin
        if (is_written(at_b + i[ADDRESS_W-4:0])) latch_b_q[BYTE_W*i+:BYTE_W] <= BYTE_W'($urandom);
      end
    end
    if (OCEB) begin
      out_b_q <= latch_b_q;
    end
    if (WEB && CEB || RSTB || CSB2 || CSB1 || CSB0) begin
      $fatal(1, "%m: WEB, RSTB or CSB is used, which is not modelled");
    end
  end

  assign do_a = REGMODE_A == "OUTREG" ? out_a_q : latch_a_q;
  assign do_b = REGMODE_B == "OUTREG" ? out_b_q : latch_b_q;

  // 36 bits that port B reads are on both ports' pins; where only port A has so many, the pins of
  // port B are its own.
  assign {
    DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
    DOA3, DOA2, DOA1, DOA0
  } = DATA_WIDTH_B == WIDE_W ? do_b[HALF_W-1:0] : do_a[HALF_W-1:0];
  assign {
    DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
    DOB3, DOB2, DOB1, DOB0
  } = DATA_WIDTH_B == WIDE_W ? do_b[WIDE_W-1:HALF_W] : do_b[HALF_W-1:0];

endmodule
