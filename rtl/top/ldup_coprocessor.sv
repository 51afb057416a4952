// LDUP co-processor: the inverter of N x N matrices behind AXI4-Lite registers
// (docs/register_map.md). Software writes a matrix, runs, and reads its inverse. Float formats of
// up to 32 bits; a float stands in the low bits of its word, the rest reads as zero.
//
// Bus, commands and status: coprocessor_control.
//
// Latency: a run takes as long as the inverter in ldup_engine; CYCLES holds it.
// Throughput: one run at a time.

module ldup_coprocessor
  import ldup_coprocessor_regs_pkg::*;
#(
  parameter int N = 4,
  parameter bit PARALLEL = 0,
  parameter int EXP_W = 8,
  parameter int MAN_W = 23,
  parameter int ADD_STAGES = 0,
  parameter int MUL_STAGES = 0,
  parameter int REC_STAGES = 0,
  localparam int W = 1 + EXP_W + MAN_W
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic [ADDR_W-1:0] s_axil_awaddr,
  input  logic [2:0]        s_axil_awprot,
  input  logic              s_axil_awvalid,
  output logic              s_axil_awready,
  input  logic [DATA_W-1:0] s_axil_wdata,
  input  logic [STRB_W-1:0] s_axil_wstrb,
  input  logic              s_axil_wvalid,
  output logic              s_axil_wready,
  output logic [1:0]        s_axil_bresp,
  output logic              s_axil_bvalid,
  input  logic              s_axil_bready,
  input  logic [ADDR_W-1:0] s_axil_araddr,
  input  logic [2:0]        s_axil_arprot,
  input  logic              s_axil_arvalid,
  output logic              s_axil_arready,
  output logic [DATA_W-1:0] s_axil_rdata,
  output logic [1:0]        s_axil_rresp,
  output logic              s_axil_rvalid,
  input  logic              s_axil_rready,

  output logic irq_o
);

  localparam int WORDS = N * N;
  localparam logic [DATA_W-1:0] CONFIG_VALUE =
      (EXP_W << CONFIG_EXP_W) | (MAN_W << CONFIG_MAN_W) | (32'(PARALLEL) << CONFIG_PARALLEL) |
      (ADD_STAGES << CONFIG_ADD_STAGES) | (MUL_STAGES << CONFIG_MUL_STAGES) |
      (REC_STAGES << CONFIG_REC_STAGES) | (N << CONFIG_N);

  if (REC_STAGES >= 1 << CONFIG_REC_STAGES_W) begin : gen_check_rec_stages
    initial $fatal(1, "%m: REC_STAGES %0d does not fit register CONFIG, must be at most %0d",
                   REC_STAGES, (1 << CONFIG_REC_STAGES_W) - 1);
  end
  if (W > DATA_W) begin : gen_check_width
    initial $fatal(1, "%m: a float of %0d bits does not fit a word of %0d", W, DATA_W);
  end
  if (WORDS > MATRIX_WORDS) begin : gen_check_n
    initial $fatal(1, "%m: a matrix of size %0d does not fit the registers", N);
  end

  // ---------------------------------------------------------------------------------------------
  // Bus, control and status
  // ---------------------------------------------------------------------------------------------
  logic write, write_hit, read, read_hit;
  logic [WORD_W-1:0] write_addr, read_addr;
  logic [DATA_W-1:0] write_data, write_mask, read_data, options;
  logic engine_rst_n, run, clear, idle, busy, done_state, done, singular;
  logic [fp_pkg::FLAGS_W-1:0] flags;

  coprocessor_control #(
    .ID_VALUE("LDUP"),
    .VERSION_VALUE(32'h0001_0001),
    .CONFIG_VALUE(CONFIG_VALUE)
  ) u_control (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr,
    .s_axil_awprot,
    .s_axil_awvalid,
    .s_axil_awready,
    .s_axil_wdata,
    .s_axil_wstrb,
    .s_axil_wvalid,
    .s_axil_wready,
    .s_axil_bresp,
    .s_axil_bvalid,
    .s_axil_bready,
    .s_axil_araddr,
    .s_axil_arprot,
    .s_axil_arvalid,
    .s_axil_arready,
    .s_axil_rdata,
    .s_axil_rresp,
    .s_axil_rvalid,
    .s_axil_rready,
    .irq_o,
    .write_o(write),
    .write_addr_o(write_addr),
    .write_data_o(write_data),
    .write_mask_o(write_mask),
    .write_is_operand_i(write_hit),
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
    .done_state_i(done_state),
    .done_i(done),
    .fault_i(singular),
    .flags_i(flags)
  );

  // ---------------------------------------------------------------------------------------------
  // Engine
  // ---------------------------------------------------------------------------------------------
  logic [WORDS*W-1:0] matrix, inverse;

  ldup_engine #(
    .N(N),
    .PARALLEL(PARALLEL),
    .EXP_W(EXP_W),
    .MAN_W(MAN_W),
    .ADD_STAGES(ADD_STAGES),
    .MUL_STAGES(MUL_STAGES),
    .REC_STAGES(REC_STAGES)
  ) u_engine (
    .clk_i,
    .rst_ni(engine_rst_n),
    .run_i(run),
    .clear_i(clear),
    .idle_o(idle),
    .busy_o(busy),
    .read_o(done_state),
    .done_o(done),
    .a_i(matrix),
    .y_o(inverse),
    .singular_o(singular),
    .flags_o(flags)
  );

  // ---------------------------------------------------------------------------------------------
  // Registers
  // ---------------------------------------------------------------------------------------------
  ldup_coprocessor_regs #(
    .N(N),
    .W(W)
  ) u_registers (
    .clk_i,
    .rst_ni,
    .write_i(write),
    .write_addr_i(write_addr),
    .write_data_i(write_data),
    .write_mask_i(write_mask),
    .write_hit_o(write_hit),
    .read_addr_i(read_addr),
    .read_data_o(read_data),
    .read_hit_o(read_hit),
    .matrix_o(matrix),
    .inverse_i(inverse)
  );

  logic unused;
  assign unused = &{1'b0, options, read};

endmodule
