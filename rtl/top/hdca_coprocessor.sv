// HDCA co-processor: the engine behind AXI4-Lite registers (docs/register_map.md).
//
// Software writes the coefficients of two bodies, runs the assembly, reads the compound body,
// connects it to the base, writes the impulses on its outer handles, runs the disassembly and
// reads the impulse inside. Float formats of up to 32 bits; a float stands in the low bits of its
// word, the rest reads as zero.
//
// Bus, commands and status: coprocessor_control.
//
// Latency: a run takes as long as its phase in hdca_engine; CYCLES tells.
// Throughput: one run at a time.
module hdca_coprocessor
  import address_pkg::*;
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

  localparam logic [DATA_W-1:0] CONFIG_VALUE =
      (EXP_W << CONFIG_EXP_W) | (MAN_W << CONFIG_MAN_W) | (PASSES << CONFIG_PASSES) |
      (ADD_STAGES << CONFIG_ADD_STAGES) | (MUL_STAGES << CONFIG_MUL_STAGES) |
      (REC_STAGES << CONFIG_REC_STAGES);

  if (W > DATA_W) begin : g_check_width
    initial $fatal(1, "hdca_coprocessor: a float of %0d bits does not fit a 32-bit word", W);
  end

  // ---------------------------------------------------------------------------------------------
  // Bus, control and status
  // ---------------------------------------------------------------------------------------------
  logic write, to_operand, read, read_hit;
  logic [WORD_W-1:0] write_addr, read_addr;
  logic [DATA_W-1:0] write_data, write_mask, read_data, options;
  logic engine_rst_n, run, clear, idle, busy, done_state, done, singular;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  coprocessor_control #(
      .ID_VALUE("HDCA"),
      .VERSION_VALUE(32'h0001_0000),
      .CONFIG_VALUE(CONFIG_VALUE),
      .OPTIONS(32'h1 << CTRL_PHASE)
  ) u_control (
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
      .write_mask_o(write_mask),
      .write_is_operand_i(to_operand),
      .read_o(read),
      .read_addr_o(read_addr),
      .read_data_i(read_data),
      .read_hit_i(read_hit),
      .read_is_operand_i(1'b0),
      .engine_rst_no(engine_rst_n),
      .runnable_i(1'b1),
      .run_o(run),
      .clear_o(clear),
      .options_o(options),
      .idle_i(idle),
      .busy_i(busy),
      .read_i(done_state),
      .done_i(done),
      .fault_i(singular),
      .flags_i(flags)
  );

  // ---------------------------------------------------------------------------------------------
  // Engine
  // ---------------------------------------------------------------------------------------------
  logic [COEFF_WORDS*W-1:0] body_a_q, body_b_q, compound;
  logic [IMPULSE_WORDS*W-1:0] t_1c_q, t_2c_q, t_1b, beta_hat;
  logic [WEIGHT_WORDS*W-1:0] weight_a, weight_b;

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
      .phase_i(options[CTRL_PHASE]),
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
  logic to_body_a, to_body_b, to_t_1c, to_t_2c;
  int to;
  assign to = 32'(write_addr);
  assign to_body_a = in_range(to, 32'(BODY_A), BODY_A_WORDS);
  assign to_body_b = in_range(to, 32'(BODY_B), BODY_B_WORDS);
  assign to_t_1c = in_range(to, 32'(T_1C), T_1C_WORDS);
  assign to_t_2c = in_range(to, 32'(T_2C), T_2C_WORDS);
  assign to_operand = to_body_a | to_body_b | to_t_1c | to_t_2c;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      body_a_q <= '0;
      body_b_q <= '0;
      t_1c_q <= '0;
      t_2c_q <= '0;
    end else if (write) begin
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

  // ---------------------------------------------------------------------------------------------
  // Reads
  // ---------------------------------------------------------------------------------------------
  logic [W-1:0] coefficient_a, coefficient_b, coefficient_c, from_weight_a, from_weight_b;
  logic [W-1:0] from_t_1c, from_t_2c, from_t_1b, from_beta_hat;
  int from;
  assign from = 32'(read_addr);

  assign coefficient_a = body_a_q[W*index(from, 32'(BODY_A))+:W];
  assign coefficient_b = body_b_q[W*index(from, 32'(BODY_B))+:W];
  assign coefficient_c = compound[W*index(from, 32'(COMPOUND))+:W];
  assign from_t_1c = t_1c_q[W*index(from, 32'(T_1C))+:W];
  assign from_t_2c = t_2c_q[W*index(from, 32'(T_2C))+:W];
  assign from_t_1b = t_1b[W*index(from, 32'(T_1B))+:W];
  assign from_weight_a = weight_a[W*index(from, 32'(WEIGHT_A))+:W];
  assign from_weight_b = weight_b[W*index(from, 32'(WEIGHT_B))+:W];
  assign from_beta_hat = beta_hat[W*index(from, 32'(BETA_HAT))+:W];

  always_comb begin
    read_hit = 1'b1;
    read_data = '0;
    if (in_range(from, 32'(BODY_A), BODY_A_WORDS)) read_data = DATA_W'(coefficient_a);
    else if (in_range(from, 32'(BODY_B), BODY_B_WORDS)) read_data = DATA_W'(coefficient_b);
    else if (in_range(from, 32'(COMPOUND), COMPOUND_WORDS)) read_data = DATA_W'(coefficient_c);
    else if (in_range(from, 32'(T_1C), T_1C_WORDS)) read_data = DATA_W'(from_t_1c);
    else if (in_range(from, 32'(T_2C), T_2C_WORDS)) read_data = DATA_W'(from_t_2c);
    else if (in_range(from, 32'(T_1B), T_1B_WORDS)) read_data = DATA_W'(from_t_1b);
    else if (in_range(from, 32'(WEIGHT_A), WEIGHT_A_WORDS)) read_data = DATA_W'(from_weight_a);
    else if (in_range(from, 32'(WEIGHT_B), WEIGHT_B_WORDS)) read_data = DATA_W'(from_weight_b);
    else if (in_range(from, 32'(BETA_HAT), BETA_HAT_WORDS)) read_data = DATA_W'(from_beta_hat);
    else read_hit = 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, options, read};

endmodule
