// HDCA co-processor: the engine behind AXI4-Lite registers (docs/register_map.md).
//
// Software writes the coefficients of two bodies, runs the assembly, reads the compound body,
// connects it to the base, writes the impulses on its outer handles, runs the disassembly and
// reads the impulse inside. Float formats of up to 32 bits; a float stands in the low bits of its
// word, the rest reads as zero.
//
// Operands cannot change while busy: such a write answers SLVERR and sets STATUS.ERROR. A run
// while busy is refused and sets STATUS.ERROR. An access decodes to SLVERR unless mapped.
//
// Latency: a run takes as long as its phase in hdca_engine; CYCLES tells. Registers: axil_slave.
// Throughput: one run at a time.
module hdca_coprocessor
  import hdca_pkg::*;
  import hdca_coprocessor_regs_pkg::*;
#(
    parameter int EXP_W = 8,
    parameter int MAN_W = 23,
    parameter int PASSES = 2,
    parameter int ADD_STAGES = 0,
    parameter int MUL_STAGES = 0,
    parameter int REC_STAGES = 0,
    localparam int DATA_W = 32,
    localparam int W = 1 + EXP_W + MAN_W
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [ADDR_W-1:0] s_axil_awaddr,
    input  logic [2:0] s_axil_awprot,
    input  logic s_axil_awvalid,
    output logic s_axil_awready,
    input  logic [DATA_W-1:0] s_axil_wdata,
    input  logic [DATA_W/8-1:0] s_axil_wstrb,
    input  logic s_axil_wvalid,
    output logic s_axil_wready,
    output logic [1:0] s_axil_bresp,
    output logic s_axil_bvalid,
    input  logic s_axil_bready,
    input  logic [ADDR_W-1:0] s_axil_araddr,
    input  logic [2:0] s_axil_arprot,
    input  logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [DATA_W-1:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    output logic s_axil_rvalid,
    input  logic s_axil_rready
);

  localparam logic [DATA_W-1:0] ID_VALUE = "HDCA";
  localparam logic [DATA_W-1:0] VERSION_VALUE = 32'h0001_0000;
  localparam logic [DATA_W-1:0] CONFIG_VALUE =
      (EXP_W << CONFIG_EXP_W) | (MAN_W << CONFIG_MAN_W) | (PASSES << CONFIG_PASSES) |
      (ADD_STAGES << CONFIG_ADD_STAGES) | (MUL_STAGES << CONFIG_MUL_STAGES) |
      (REC_STAGES << CONFIG_REC_STAGES);

  if (W > DATA_W) begin : g_check_width
    initial $fatal(1, "hdca_coprocessor: a float of %0d bits does not fit a 32-bit word", W);
  end

  // ---------------------------------------------------------------------------------------------
  // Bus
  // ---------------------------------------------------------------------------------------------
  logic write, read, write_error, read_error;
  logic [WORD_W-1:0] write_addr, read_addr;
  logic [DATA_W-1:0] write_data, read_data, write_mask;
  logic [DATA_W/8-1:0] write_strb;

  axil_slave #(
      .ADDR_W(ADDR_W)
  ) u_axil (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .s_axil_awaddr(s_axil_awaddr),
      .s_axil_awprot(s_axil_awprot),
      .s_axil_awvalid(s_axil_awvalid),
      .s_axil_awready(s_axil_awready),
      .s_axil_wdata(s_axil_wdata),
      .s_axil_wstrb(s_axil_wstrb),
      .s_axil_wvalid(s_axil_wvalid),
      .s_axil_wready(s_axil_wready),
      .s_axil_bresp(s_axil_bresp),
      .s_axil_bvalid(s_axil_bvalid),
      .s_axil_bready(s_axil_bready),
      .s_axil_araddr(s_axil_araddr),
      .s_axil_arprot(s_axil_arprot),
      .s_axil_arvalid(s_axil_arvalid),
      .s_axil_arready(s_axil_arready),
      .s_axil_rdata(s_axil_rdata),
      .s_axil_rresp(s_axil_rresp),
      .s_axil_rvalid(s_axil_rvalid),
      .s_axil_rready(s_axil_rready),
      .write_o(write),
      .write_addr_o(write_addr),
      .write_data_o(write_data),
      .write_strb_o(write_strb),
      .write_error_i(write_error),
      .read_o(read),
      .read_addr_o(read_addr),
      .read_data_i(read_data),
      .read_error_i(read_error)
  );

  for (genvar byte_ = 0; byte_ < DATA_W / 8; byte_++) begin : g_mask
    assign write_mask[8*byte_+:8] = {8{write_strb[byte_]}};
  end

  // Position of `addr` in the registers from `first` on
  function automatic int index(input logic [WORD_W-1:0] addr, input logic [WORD_W-1:0] first);
    logic [WORD_W-1:0] difference;
    difference = addr - first;
    return 32'(difference);
  endfunction

  // Is `addr` one of the `words` registers from `first` on?
  function automatic logic in_range(input logic [WORD_W-1:0] addr, input logic [WORD_W-1:0] first,
                                    input int words);
    return addr >= first && index(addr, first) < words;
  endfunction

  // ---------------------------------------------------------------------------------------------
  // Engine
  // ---------------------------------------------------------------------------------------------
  logic engine_rst_n, run, clear, idle, busy, done_state, done, singular;
  logic [fp_pkg::FLAGS_W-1:0] flags;
  logic [COEFF_WORDS*W-1:0] body_a_q, body_b_q, compound;
  logic [IMPULSE_WORDS*W-1:0] t_1c_q, t_2c_q, t_1b, beta_hat;
  logic [WEIGHT_WORDS*W-1:0] weight_a, weight_b;
  logic phase_q, phase;

  hdca_engine #(
      .EXP_W(EXP_W),
      .MAN_W(MAN_W),
      .PASSES(PASSES),
      .ADD_STAGES(ADD_STAGES),
      .MUL_STAGES(MUL_STAGES),
      .REC_STAGES(REC_STAGES)
  ) u_engine (
      .clk_i(clk_i),
      .rst_ni(engine_rst_n),
      .run_i(run),
      .phase_i(phase),
      .clear_i(clear),
      .idle_o(idle),
      .busy_o(busy),
      .read_o(done_state),
      .done_o(done),
      .body_a_i(body_a_q),
      .body_b_i(body_b_q),
      .compound_o(compound),
      .weight_a_o(weight_a),
      .weight_b_o(weight_b),
      .beta_hat_o(beta_hat),
      .t_1c_i(t_1c_q),
      .t_2c_i(t_2c_q),
      .t_1b_o(t_1b),
      .singular_o(singular),
      .flags_o(flags)
  );

  // ---------------------------------------------------------------------------------------------
  // Writes
  // ---------------------------------------------------------------------------------------------
  logic to_body_a, to_body_b, to_t_1c, to_t_2c, to_operand, to_ctrl, to_status;
  assign to_body_a = in_range(write_addr, BODY_A, BODY_A_WORDS);
  assign to_body_b = in_range(write_addr, BODY_B, BODY_B_WORDS);
  assign to_t_1c = in_range(write_addr, T_1C, T_1C_WORDS);
  assign to_t_2c = in_range(write_addr, T_2C, T_2C_WORDS);
  assign to_operand = to_body_a | to_body_b | to_t_1c | to_t_2c;
  assign to_ctrl = write_addr == CTRL;
  assign to_status = write_addr == STATUS;
  assign write_error = !(to_ctrl | to_status | (to_operand && !busy));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      body_a_q <= '0;
      body_b_q <= '0;
      t_1c_q <= '0;
      t_2c_q <= '0;
    end else if (write && !busy) begin
      for (int i = 0; i < COEFF_WORDS; i++) begin
        if (write_addr == BODY_A + WORD_W'(i))
          body_a_q[i*W+:W] <= (body_a_q[i*W+:W] & ~write_mask[W-1:0])
                            | (write_data[W-1:0] & write_mask[W-1:0]);
        if (write_addr == BODY_B + WORD_W'(i))
          body_b_q[i*W+:W] <= (body_b_q[i*W+:W] & ~write_mask[W-1:0])
                            | (write_data[W-1:0] & write_mask[W-1:0]);
      end
      for (int i = 0; i < IMPULSE_WORDS; i++) begin
        if (write_addr == T_1C + WORD_W'(i))
          t_1c_q[i*W+:W] <= (t_1c_q[i*W+:W] & ~write_mask[W-1:0])
                          | (write_data[W-1:0] & write_mask[W-1:0]);
        if (write_addr == T_2C + WORD_W'(i))
          t_2c_q[i*W+:W] <= (t_2c_q[i*W+:W] & ~write_mask[W-1:0])
                          | (write_data[W-1:0] & write_mask[W-1:0]);
      end
    end
  end

  // Commands: reset wins over run
  logic [DATA_W-1:0] command;
  logic soft_reset;
  assign command = write_data & write_mask;
  assign soft_reset = write && to_ctrl && command[CTRL_RESET];
  assign engine_rst_n = rst_ni && !soft_reset;
  assign run = write && to_ctrl && command[CTRL_RUN] && !soft_reset;
  assign phase = write && to_ctrl && write_mask[CTRL_PHASE] ? command[CTRL_PHASE] : phase_q;
  assign clear = write && to_status && command[STATUS_DONE];

  // Status
  logic error_q, singular_q, done_q;
  logic [fp_pkg::FLAGS_W-1:0] flags_q;
  logic [DATA_W-1:0] cycles_q, clear_bits;
  logic refused;
  assign refused = write && busy && (to_operand || (to_ctrl && command[CTRL_RUN]));
  assign clear_bits = write && to_status ? command : '0;

  always_ff @(posedge clk_i) begin
    if (!engine_rst_n) begin
      phase_q <= 1'b0;
      done_q <= 1'b0;
      error_q <= 1'b0;
      singular_q <= 1'b0;
      flags_q <= '0;
      cycles_q <= '0;
    end else begin
      if (!busy) phase_q <= phase;
      done_q <= done;  // the engine's status is valid one cycle after `done`
      error_q <= refused || (error_q && !clear_bits[STATUS_ERROR]);
      singular_q <= (done_q && singular) || (singular_q && !clear_bits[STATUS_SINGULAR]);
      flags_q <= (done_q ? flags : '0)
               | (flags_q & ~clear_bits[STATUS_FLAGS+:fp_pkg::FLAGS_W]);
      if (run && !busy) cycles_q <= '0;
      else if (busy) cycles_q <= cycles_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Reads
  // ---------------------------------------------------------------------------------------------
  logic [DATA_W-1:0] status, ctrl;
  logic [W-1:0] coefficient_a, coefficient_b, coefficient_c, from_weight_a, from_weight_b;
  logic [W-1:0] from_t_1c, from_t_2c, from_t_1b, from_beta_hat;

  always_comb begin
    status = '0;
    status[STATUS_IDLE] = idle;
    status[STATUS_BUSY] = busy;
    status[STATUS_DONE] = done_state;
    status[STATUS_ERROR] = error_q;
    status[STATUS_SINGULAR] = singular_q || (done_q && singular);
    status[STATUS_FLAGS+:fp_pkg::FLAGS_W] = flags_q | (done_q ? flags : '0);
    ctrl = '0;
    ctrl[CTRL_PHASE] = phase_q;
  end

  assign coefficient_a = body_a_q[W*index(read_addr, BODY_A)+:W];
  assign coefficient_b = body_b_q[W*index(read_addr, BODY_B)+:W];
  assign coefficient_c = compound[W*index(read_addr, COMPOUND)+:W];
  assign from_t_1c = t_1c_q[W*index(read_addr, T_1C)+:W];
  assign from_t_2c = t_2c_q[W*index(read_addr, T_2C)+:W];
  assign from_t_1b = t_1b[W*index(read_addr, T_1B)+:W];
  assign from_weight_a = weight_a[W*index(read_addr, WEIGHT_A)+:W];
  assign from_weight_b = weight_b[W*index(read_addr, WEIGHT_B)+:W];
  assign from_beta_hat = beta_hat[W*index(read_addr, BETA_HAT)+:W];

  always_comb begin
    read_error = 1'b0;
    read_data = '0;
    if (read_addr == ID) read_data = ID_VALUE;
    else if (read_addr == VERSION) read_data = VERSION_VALUE;
    else if (read_addr == CONFIG) read_data = CONFIG_VALUE;
    else if (read_addr == CTRL) read_data = ctrl;
    else if (read_addr == STATUS) read_data = status;
    else if (read_addr == CYCLES) read_data = cycles_q;
    else if (in_range(read_addr, BODY_A, BODY_A_WORDS)) read_data = DATA_W'(coefficient_a);
    else if (in_range(read_addr, BODY_B, BODY_B_WORDS)) read_data = DATA_W'(coefficient_b);
    else if (in_range(read_addr, COMPOUND, COMPOUND_WORDS)) read_data = DATA_W'(coefficient_c);
    else if (in_range(read_addr, T_1C, T_1C_WORDS)) read_data = DATA_W'(from_t_1c);
    else if (in_range(read_addr, T_2C, T_2C_WORDS)) read_data = DATA_W'(from_t_2c);
    else if (in_range(read_addr, T_1B, T_1B_WORDS)) read_data = DATA_W'(from_t_1b);
    else if (in_range(read_addr, WEIGHT_A, WEIGHT_A_WORDS)) read_data = DATA_W'(from_weight_a);
    else if (in_range(read_addr, WEIGHT_B, WEIGHT_B_WORDS)) read_data = DATA_W'(from_weight_b);
    else if (in_range(read_addr, BETA_HAT, BETA_HAT_WORDS)) read_data = DATA_W'(from_beta_hat);
    else read_error = 1'b1;
  end

  logic unused;
  assign unused = &{1'b0, read};

endmodule
