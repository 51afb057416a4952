// coprocessor_control: its answers and commands, for any engine and any registers behind it, whose
// outputs are free in every step. Accesses are those of axil_slave, which has a harness of its own.
//
// Engine outputs are not bound to its states here: the properties hold whatever it does.

module coprocessor_control_formal
  import coprocessor_regs_pkg::*;
#(
  parameter int SETUP = 0,
  localparam logic [DATA_W-1:0] OPTIONS = 32'h0000_0104
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic [ADDR_W-1:0] awaddr_i,
  input logic              awvalid_i,
  input logic [DATA_W-1:0] wdata_i,
  input logic [STRB_W-1:0] wstrb_i,
  input logic              wvalid_i,
  input logic              bready_i,
  input logic [ADDR_W-1:0] araddr_i,
  input logic              arvalid_i,
  input logic              rready_i,

  input logic              write_is_operand_i,
  input logic [DATA_W-1:0] read_data_i,
  input logic              read_hit_i,
  input logic              read_is_operand_i,
  input logic              runnable_i,
  input logic              idle_i,
  input logic              busy_i,
  input logic              done_state_i,
  input logic              done_i,
  input logic              fault_i,
  input logic [fp_pkg::FLAGS_W-1:0] flags_i
);

  localparam logic [DATA_W-1:0] ID_VALUE = 32'h1234_5678;
  localparam logic [DATA_W-1:0] VERSION_VALUE = 32'h0001_0002;
  localparam logic [DATA_W-1:0] CONFIG_VALUE = 32'h8765_4321;
  localparam logic [1:0] OKAY = 2'b00;
  localparam logic [1:0] SLVERR = 2'b10;

  logic awready, wready, bvalid, arready, rvalid, write, read, rst_n, run, clear, irq;
  logic [1:0] bresp, rresp;
  logic [DATA_W-1:0] rdata, write_data, write_mask, options;
  logic [WORD_W-1:0] write_addr, read_addr;

  coprocessor_control #(
    .ID_VALUE(ID_VALUE),
    .VERSION_VALUE(VERSION_VALUE),
    .CONFIG_VALUE(CONFIG_VALUE),
    .OPTIONS(OPTIONS),
    .SETUP(SETUP)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr(awaddr_i),
    .s_axil_awprot(3'b000),
    .s_axil_awvalid(awvalid_i),
    .s_axil_awready(awready),
    .s_axil_wdata(wdata_i),
    .s_axil_wstrb(wstrb_i),
    .s_axil_wvalid(wvalid_i),
    .s_axil_wready(wready),
    .s_axil_bresp(bresp),
    .s_axil_bvalid(bvalid),
    .s_axil_bready(bready_i),
    .s_axil_araddr(araddr_i),
    .s_axil_arprot(3'b000),
    .s_axil_arvalid(arvalid_i),
    .s_axil_arready(arready),
    .s_axil_rdata(rdata),
    .s_axil_rresp(rresp),
    .s_axil_rvalid(rvalid),
    .s_axil_rready(rready_i),
    .irq_o(irq),
    .write_o(write),
    .write_addr_o(write_addr),
    .write_data_o(write_data),
    .write_mask_o(write_mask),
    .write_is_operand_i,
    .read_o(read),
    .read_addr_o(read_addr),
    .read_data_i,
    .read_hit_i,
    .read_is_operand_i,
    .engine_rst_no(rst_n),
    .runnable_i,
    .run_o(run),
    .clear_o(clear),
    .options_o(options),
    .idle_i,
    .busy_i,
    .done_state_i,
    .done_i,
    .fault_i,
    .flags_i
  );

  // ---------------------------------------------------------------------------------------------
  // The status as the register map tells it
  // ---------------------------------------------------------------------------------------------
  logic later_q = 1'b0;
  logic access_write, access_read, to_ctrl, to_status, asks_run, asks_reset, refused, ended_q;
  logic error_q, fault_q, fault;
  logic [fp_pkg::FLAGS_W-1:0] flags_q, flags;
  logic [DATA_W-1:0] cycles_q, options_q, command, status;
  logic [STRB_W-1:0] strb;

  assign access_write = u_dut.write;
  assign access_read = u_dut.read;
  assign strb = u_dut.u_axil.write_strb_o;  // axil_slave's harness follows it from the bus on
  assign command = write_data & write_mask;
  assign to_ctrl = access_write && write_addr == CTRL;
  assign to_status = access_write && write_addr == STATUS;
  assign asks_run = to_ctrl && command[CTRL_RUN];
  assign asks_reset = to_ctrl && command[CTRL_RESET];
  assign refused = (asks_run && (busy_i || !runnable_i)) ||
                   (busy_i && access_write && write_is_operand_i) ||
                   (busy_i && access_read && read_is_operand_i);
  assign fault = fault_q || (ended_q && fault_i);
  assign flags = flags_q | (flags_i & {fp_pkg::FLAGS_W{ended_q}});

  always_comb begin
    status = '0;
    status[STATUS_IDLE] = idle_i;
    status[STATUS_BUSY] = busy_i;
    status[STATUS_DONE] = done_state_i;
    status[STATUS_ERROR] = error_q;
    status[STATUS_FAULT] = fault;
    status[STATUS_FLAGS+:fp_pkg::FLAGS_W] = flags;
  end

  // Interrupt: a mask that the pin clears, and what STATUS has of it, a cycle later
  localparam logic [DATA_W-1:0] IRQ_BITS =
      (1 << STATUS_DONE) | (1 << STATUS_ERROR) | (1 << STATUS_FAULT);
  logic [DATA_W-1:0] enable_q, enable_then_q;
  logic irq_then_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      enable_q <= '0;
    end else if (access_write && write_addr == IRQ_ENABLE) begin
      enable_q <= ((enable_q & ~write_mask) | command) & IRQ_BITS;
    end
    irq_then_q <= rst_ni && (status & enable_q) != '0;
    enable_then_q <= enable_q;
  end

  // What happens in a cycle is kept even if it is cleared in the same one.
  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    if (!rst_ni || asks_reset) begin
      ended_q <= 1'b0;
      error_q <= 1'b0;
      fault_q <= 1'b0;
      flags_q <= '0;
      cycles_q <= '0;
      options_q <= '0;
    end else begin
      ended_q <= done_i;
      error_q <= (error_q && !(to_status && command[STATUS_ERROR])) || refused;
      fault_q <= (fault_q && !(to_status && command[STATUS_FAULT])) || (ended_q && fault_i);
      flags_q <= (flags_q & ~(command[STATUS_FLAGS+:fp_pkg::FLAGS_W] &
                              {fp_pkg::FLAGS_W{to_status}})) |
                 (flags_i & {fp_pkg::FLAGS_W{ended_q}});
      cycles_q <= busy_i ? cycles_q + 1'b1 : asks_run && runnable_i ? '0 : cycles_q;
      if (to_ctrl && !busy_i) begin
        options_q <= ((options_q & ~write_mask) | command) & OPTIONS;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Answers, one step after the access
  // ---------------------------------------------------------------------------------------------
  logic wrote_q, write_ok_q, read_q, read_ok_q;
  logic [WORD_W-1:0] read_addr_q;
  logic [DATA_W-1:0] hit_data_q, status_q, cycles_then_q, options_then_q;

  always_ff @(posedge clk_i) begin
    wrote_q <= rst_ni && access_write;
    write_ok_q <= write_addr == CTRL || write_addr == STATUS || write_addr == IRQ_ENABLE ||
                  (write_is_operand_i && !busy_i);
    read_q <= rst_ni && access_read;
    read_ok_q <= read_hit_i && !(busy_i && read_is_operand_i);
    read_addr_q <= read_addr;
    hit_data_q <= read_data_i;
    status_q <= status;
    cycles_then_q <= cycles_q;
    options_then_q <= options_q;
  end

  logic common;
  assign common = read_addr_q == ID || read_addr_q == VERSION || read_addr_q == CONFIG ||
                  read_addr_q == CTRL || read_addr_q == STATUS || read_addr_q == CYCLES ||
                  read_addr_q == IRQ_ENABLE;

  always_comb begin
    if (later_q) begin
      mask_of_strobes: assert (write_mask == {{8{strb[3]}}, {8{strb[2]}}, {8{strb[1]}},
                                              {8{strb[0]}}});
      write_answer: assert (!wrote_q || (bvalid && bresp == (write_ok_q ? OKAY : SLVERR)));
      read_answer: assert (!read_q || common ||
                           (rvalid && rresp == (read_ok_q ? OKAY : SLVERR) &&
                            rdata == (read_ok_q ? hit_data_q : '0)));
      common_answer: assert (!read_q || !common || (rvalid && rresp == OKAY));
      constants_stay: assert (!read_q || ((read_addr_q != ID || rdata == ID_VALUE) &&
                                          (read_addr_q != VERSION || rdata == VERSION_VALUE) &&
                                          (read_addr_q != CONFIG || rdata == CONFIG_VALUE)));
      status_read: assert (!read_q || read_addr_q != STATUS || rdata == status_q);
      cycles_read: assert (!read_q || read_addr_q != CYCLES || rdata == cycles_then_q);
      options_read: assert (!read_q || read_addr_q != CTRL || rdata == options_then_q);
      enable_read: assert (!read_q || read_addr_q != IRQ_ENABLE || rdata == enable_then_q);
      irq_level: assert (irq == irq_then_q);
      operand_locked: assert (write ==
                               (access_write && |write_mask && write_is_operand_i && !busy_i));
      read_locked: assert (read == (access_read && !(busy_i && read_is_operand_i)));
      run_asked: assert (run == (asks_run && runnable_i && !busy_i && !asks_reset));
      reset_asked: assert (rst_n == (rst_ni && !asks_reset));
      clear_asked: assert (clear == (to_status && command[STATUS_DONE]));
      options_given: assert (!run || !rst_ni ||
                             options == (((options_q & ~write_mask) | command) & OPTIONS));
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Lemmas of the induction
  // ---------------------------------------------------------------------------------------------
  always_comb begin
    if (later_q) begin
      lemma_status: assert (u_dut.error_q == error_q && u_dut.fault_q == fault_q &&
                            u_dut.flags_q == flags_q && u_dut.done_q == ended_q);
      lemma_counts: assert (u_dut.cycles_q == cycles_q && u_dut.options_q == options_q);
      lemma_enable: assert (DATA_W'(u_dut.irq_enable_q) << STATUS_DONE == enable_q);
    end else begin
      assume (!rst_ni);
    end
  end

endmodule
