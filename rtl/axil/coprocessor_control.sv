// What every co-processor has: the AXI4-Lite bus, the registers that all maps begin with (ID,
// VERSION, CONFIG, CTRL, STATUS, CYCLES, IRQ_ENABLE; docs/register_map.md), and the interrupt. The
// co-processor adds its operands and results, and its engine.
//
// Operands: for each write of an address that is not among these registers, the co-processor says
// with `write_is_operand_i` whether an operand stands there. If so and nothing runs, `write_o` is
// high for one cycle: it takes `write_data_o` where `write_mask_o` is set. A write that strobes no
// byte is answered as any other, without `write_o`. An operand write while busy answers SLVERR and
// sets STATUS.ERROR; any other address answers SLVERR.
// Reads: it answers `read_addr_o` with `read_data_i`, and with `read_hit_i` if anything is there;
// `read_o` is high in the cycle of a read that it answers. With `read_is_operand_i` it stands
// behind the same lock as a write: while busy SLVERR, and STATUS.ERROR.
//
// Engine: `run_o` and `clear_o` are one-cycle pulses, `engine_rst_no` its reset. `idle_i`, `busy_i`
// and `done_state_i` are its states; `done_i` ends a run. A run while busy, or without
// `runnable_i`, is refused: it sets STATUS.ERROR, without `run_o`. A reset wins over a run.
// `fault_i` and `flags_i` are those of the run that ended, one cycle after `done_i`; they
// accumulate here until cleared by writing 1. What a fault is, the co-processor's map says.
// OPTIONS are the bits of CTRL that are kept, read back and given to the engine on `options_o`,
// those of a write in its own cycle, together with `run_o`; of a write while busy none are kept.
//
// Interrupt: `irq_o` is a level, high in the cycle after one in which STATUS has a bit that
// IRQ_ENABLE has. It falls when these bits are cleared, or masked. `rst_ni` masks all.
//
// The co-processor may take SETUP cycles for its answers (axil_slave), also behind a run.
//
// Latency: axil_slave's; a run starts in the cycle of the write. Throughput: axil_slave's.

module coprocessor_control
  import coprocessor_regs_pkg::*;
#(
  parameter logic [DATA_W-1:0] ID_VALUE = "NONE",
  parameter logic [DATA_W-1:0] VERSION_VALUE = 32'h0001_0000,
  parameter logic [DATA_W-1:0] CONFIG_VALUE = '0,
  parameter logic [DATA_W-1:0] OPTIONS = '0,
  parameter int SETUP = 0
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
  output logic              irq_o,

  output logic              write_o,
  output logic [WORD_W-1:0] write_addr_o,
  output logic [DATA_W-1:0] write_data_o,
  output logic [DATA_W-1:0] write_mask_o,
  input  logic              write_is_operand_i,
  output logic              read_o,
  output logic [WORD_W-1:0] read_addr_o,
  input  logic [DATA_W-1:0] read_data_i,
  input  logic              read_hit_i,
  input  logic              read_is_operand_i,

  output logic                       engine_rst_no,
  input  logic                       runnable_i,
  output logic                       run_o,
  output logic                       clear_o,
  output logic [DATA_W-1:0]          options_o,
  input  logic                       idle_i,
  input  logic                       busy_i,
  input  logic                       done_state_i,
  input  logic                       done_i,
  input  logic                       fault_i,
  input  logic [fp_pkg::FLAGS_W-1:0] flags_i
);

  // ---------------------------------------------------------------------------------------------
  // Bus
  // ---------------------------------------------------------------------------------------------
  logic write, read, write_error, read_error;
  logic [DATA_W-1:0] read_data;
  logic [STRB_W-1:0] write_strb;

  axil_slave #(
    .ADDR_W(ADDR_W),
    .SETUP(SETUP)
  ) u_axil (
    .clk_i,
    .rst_ni,
    .changing_i(done_i),  // the engine's memories are the bus' again
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
    .write_o(write),
    .write_addr_o,
    .write_data_o,
    .write_strb_o(write_strb),
    .write_error_i(write_error),
    .read_o(read),
    .read_addr_o,
    .read_data_i(read_data),
    .read_error_i(read_error)
  );

  localparam int BYTE_W = DATA_W / STRB_W;

  for (genvar i = 0; i < STRB_W; i++) begin : gen_mask
    assign write_mask_o[BYTE_W*i+:BYTE_W] = {BYTE_W{write_strb[i]}};
  end

  // ---------------------------------------------------------------------------------------------
  // Writes; reset wins over run
  // ---------------------------------------------------------------------------------------------
  logic to_ctrl, to_status, to_enable, run, locked, refused, soft_reset;
  logic [DATA_W-1:0] command, clear_bits, options_q;
  assign to_ctrl = write_addr_o == CTRL;
  assign to_status = write_addr_o == STATUS;
  assign to_enable = write_addr_o == IRQ_ENABLE;
  assign command = write_data_o & write_mask_o;
  assign write_error = !(to_ctrl | to_status | to_enable | (write_is_operand_i && !busy_i));
  assign write_o = write && |write_strb && write_is_operand_i && !busy_i;
  assign run = write && to_ctrl && command[CTRL_RUN];
  assign locked = busy_i && ((write && write_is_operand_i) || (read && read_is_operand_i));
  assign refused = locked || (run && (busy_i || !runnable_i));

  assign soft_reset = write && to_ctrl && command[CTRL_RESET];
  assign engine_rst_no = rst_ni && !soft_reset;
  assign run_o = run && runnable_i && !busy_i && !soft_reset;
  assign clear_o = clear_bits[STATUS_DONE];
  assign clear_bits = write && to_status ? command : '0;
  assign options_o =
      write && to_ctrl ? ((options_q & ~write_mask_o) | command) & OPTIONS : options_q;

  // ---------------------------------------------------------------------------------------------
  // Status
  // ---------------------------------------------------------------------------------------------
  logic error_q, fault_q, done_q, fault;
  logic [fp_pkg::FLAGS_W-1:0] flags_q, flags;
  logic [DATA_W-1:0] cycles_q;
  assign fault = fault_q || (done_q && fault_i);
  assign flags = flags_q | (done_q ? flags_i : '0);

  always_ff @(posedge clk_i) begin
    if (!engine_rst_no) begin
      options_q <= '0;
      done_q <= 1'b0;
      error_q <= 1'b0;
      fault_q <= 1'b0;
      flags_q <= '0;
      cycles_q <= '0;
    end else begin
      if (!busy_i) begin
        options_q <= options_o;
      end
      done_q <= done_i;  // the engine's status is valid one cycle after `done_i`
      error_q <= refused || (error_q && !clear_bits[STATUS_ERROR]);
      fault_q <= (done_q && fault_i) || (fault_q && !clear_bits[STATUS_FAULT]);
      flags_q <= (done_q ? flags_i : '0) |
                 (flags_q & ~clear_bits[STATUS_FLAGS+:fp_pkg::FLAGS_W]);
      if (run_o) begin
        cycles_q <= '0;
      end else if (busy_i) begin
        cycles_q <= cycles_q + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Interrupt: fields of IRQ_ENABLE stand where those of STATUS do
  // ---------------------------------------------------------------------------------------------
  localparam int IRQ_AT = STATUS_DONE;
  localparam int IRQ_W = STATUS_FAULT - STATUS_DONE + 1;  // done, error, fault

  logic [DATA_W-1:0] status;
  logic [IRQ_W-1:0] irq_enable_q;
  logic irq_q;
  assign irq_o = irq_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      irq_enable_q <= '0;
      irq_q <= 1'b0;
    end else begin
      if (write && to_enable) begin
        irq_enable_q <= (irq_enable_q & ~write_mask_o[IRQ_AT+:IRQ_W]) | command[IRQ_AT+:IRQ_W];
      end
      irq_q <= |(status[IRQ_AT+:IRQ_W] & irq_enable_q);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Reads
  // ---------------------------------------------------------------------------------------------
  always_comb begin
    status = '0;
    status[STATUS_IDLE] = idle_i;
    status[STATUS_BUSY] = busy_i;
    status[STATUS_DONE] = done_state_i;
    status[STATUS_ERROR] = error_q;
    status[STATUS_FAULT] = fault;
    status[STATUS_FLAGS+:fp_pkg::FLAGS_W] = flags;
  end

  always_comb begin
    read_error = 1'b0;
    if (read_addr_o == ID) begin
      read_data = ID_VALUE;
    end else if (read_addr_o == VERSION) begin
      read_data = VERSION_VALUE;
    end else if (read_addr_o == CONFIG) begin
      read_data = CONFIG_VALUE;
    end else if (read_addr_o == CTRL) begin
      read_data = options_q;
    end else if (read_addr_o == STATUS) begin
      read_data = status;
    end else if (read_addr_o == CYCLES) begin
      read_data = cycles_q;
    end else if (read_addr_o == IRQ_ENABLE) begin
      read_data = DATA_W'(irq_enable_q) << IRQ_AT;
    end else begin
      read_data = read_data_i;
      read_error = !read_hit_i || (busy_i && read_is_operand_i);
    end
  end

  assign read_o = read && !(busy_i && read_is_operand_i);

endmodule
