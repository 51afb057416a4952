// A co-processor, the step engine or the step array at its bus: the rules of AXI4-Lite, what the
// register map says of its addresses, and registers that software writes.
//
// What computes is cut out (the proof's boxes): its outputs are free in every step, whatever it is
// told. So all that it could ever answer is covered, and what holds here holds for any format,
// number of lanes and depth of memories that the registers do not see.

module top_formal #(
  parameter int TOP = 0,
  parameter bit HELD = 1'b0,  // also what is read of registers that software writes
  localparam int HDCA = 0,
  localparam int LDUP = 1,
  localparam int ENGINE = 2,
  localparam int ARRAY = 3,
  localparam int ADDR_W = 12,
  localparam int DATA_W = 32,
  localparam int STRB_W = 4,
  localparam int WORD_W = ADDR_W - 2,
  localparam int FLOAT_W = 8,  // of the co-processors, in whose registers the rest is zero
  localparam logic [DATA_W-1:0] KEPT = TOP == HDCA || TOP == LDUP ? (1 << FLOAT_W) - 1 : '1,
  localparam int PROGRAM_WORDS = 3  // bus words of a program word
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
  input logic [WORD_W-1:0] chosen_i  // word address of a held register
);

  logic awready, wready, bvalid, arready, rvalid;
  logic [1:0] bresp, rresp;
  logic [DATA_W-1:0] rdata;
  logic [WORD_W-1:0] chosen_q;

  if (TOP == HDCA) begin : gen_top
    hdca_coprocessor #(.EXP_W(4), .MAN_W(3)) u_dut (
      .clk_i, .rst_ni,
      .s_axil_awaddr(awaddr_i), .s_axil_awprot(3'b000), .s_axil_awvalid(awvalid_i),
      .s_axil_awready(awready), .s_axil_wdata(wdata_i), .s_axil_wstrb(wstrb_i),
      .s_axil_wvalid(wvalid_i), .s_axil_wready(wready), .s_axil_bresp(bresp),
      .s_axil_bvalid(bvalid), .s_axil_bready(bready_i), .s_axil_araddr(araddr_i),
      .s_axil_arprot(3'b000), .s_axil_arvalid(arvalid_i), .s_axil_arready(arready),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid),
      .s_axil_rready(rready_i), .irq_o()
    );

    logic [DATA_W-1:0] chosen_now;  // what the chosen register holds
    always_comb begin
      chosen_now = '0;
      for (int i = 0; i < hdca_coprocessor_regs_pkg::BODY_A_WORDS; i++) begin
        if (chosen_q == hdca_coprocessor_regs_pkg::BODY_A + WORD_W'(i)) begin
          chosen_now = DATA_W'(u_dut.u_registers.body_a_o[FLOAT_W*i+:FLOAT_W]);
        end
      end
      for (int i = 0; i < hdca_coprocessor_regs_pkg::BODY_B_WORDS; i++) begin
        if (chosen_q == hdca_coprocessor_regs_pkg::BODY_B + WORD_W'(i)) begin
          chosen_now = DATA_W'(u_dut.u_registers.body_b_o[FLOAT_W*i+:FLOAT_W]);
        end
      end
      for (int i = 0; i < hdca_coprocessor_regs_pkg::T_1C_WORDS; i++) begin
        if (chosen_q == hdca_coprocessor_regs_pkg::T_1C + WORD_W'(i)) begin
          chosen_now = DATA_W'(u_dut.u_registers.t_1c_o[FLOAT_W*i+:FLOAT_W]);
        end
      end
      for (int i = 0; i < hdca_coprocessor_regs_pkg::T_2C_WORDS; i++) begin
        if (chosen_q == hdca_coprocessor_regs_pkg::T_2C + WORD_W'(i)) begin
          chosen_now = DATA_W'(u_dut.u_registers.t_2c_o[FLOAT_W*i+:FLOAT_W]);
        end
      end
    end
  end else if (TOP == LDUP) begin : gen_top
    ldup_coprocessor #(.N(2), .EXP_W(4), .MAN_W(3)) u_dut (
      .clk_i, .rst_ni,
      .s_axil_awaddr(awaddr_i), .s_axil_awprot(3'b000), .s_axil_awvalid(awvalid_i),
      .s_axil_awready(awready), .s_axil_wdata(wdata_i), .s_axil_wstrb(wstrb_i),
      .s_axil_wvalid(wvalid_i), .s_axil_wready(wready), .s_axil_bresp(bresp),
      .s_axil_bvalid(bvalid), .s_axil_bready(bready_i), .s_axil_araddr(araddr_i),
      .s_axil_arprot(3'b000), .s_axil_arvalid(arvalid_i), .s_axil_arready(arready),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid),
      .s_axil_rready(rready_i), .irq_o()
    );

    logic [DATA_W-1:0] chosen_now;  // what the chosen register holds
    always_comb begin
      chosen_now = '0;
      for (int i = 0; i < 4; i++) begin
        if (chosen_q == ldup_coprocessor_regs_pkg::MATRIX + WORD_W'(i)) begin
          chosen_now = DATA_W'(u_dut.u_registers.matrix_o[FLOAT_W*i+:FLOAT_W]);
        end
      end
    end
  end else if (TOP == ENGINE) begin : gen_top
    step_engine #(
      .NUM_ADD(1), .NUM_MUL(1), .DEPTH(8), .PROGRAM_DEPTH(8), .TRACE_DEPTH(4),
      .TRACE_REGISTERS(4), .PROGRAMS(2)
    ) u_dut (
      .clk_i, .rst_ni,
      .s_axil_awaddr(awaddr_i), .s_axil_awprot(3'b000), .s_axil_awvalid(awvalid_i),
      .s_axil_awready(awready), .s_axil_wdata(wdata_i), .s_axil_wstrb(wstrb_i),
      .s_axil_wvalid(wvalid_i), .s_axil_wready(wready), .s_axil_bresp(bresp),
      .s_axil_bvalid(bvalid), .s_axil_bready(bready_i), .s_axil_araddr(araddr_i),
      .s_axil_arprot(3'b000), .s_axil_arvalid(arvalid_i), .s_axil_arready(arready),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid),
      .s_axil_rready(rready_i), .irq_o()
    );

    logic [DATA_W-1:0] chosen_now;  // what the chosen register holds
    always_comb begin
      chosen_now = '0;
      if (chosen_q == step_engine_regs_pkg::STEPS) begin
        chosen_now = u_dut.u_registers.steps_o;
      end
      if (chosen_q == step_engine_regs_pkg::SAVE) begin
        chosen_now = u_dut.u_registers.save_o;
      end
      if (chosen_q == step_engine_regs_pkg::EVERY) begin
        chosen_now = u_dut.u_registers.every_o;
      end
      for (int i = 0; i < PROGRAM_WORDS; i++) begin
        if (chosen_q == step_engine_regs_pkg::PROGRAM_WORD + WORD_W'(i)) begin
          chosen_now = u_dut.u_registers.program_word_o[DATA_W*i+:DATA_W];
        end
      end
    end
  end else begin : gen_top
    step_array #(
      .NUM_ADD(1), .NUM_MUL(1), .DEPTH(8), .CONTEXTS(2), .PROGRAM_DEPTH(8), .IN_DEPTH(4),
      .OUT_DEPTH(4), .SEGMENTS(4), .FUNCTIONS(2)
    ) u_dut (
      .clk_i, .rst_ni,
      .s_axil_awaddr(awaddr_i), .s_axil_awprot(3'b000), .s_axil_awvalid(awvalid_i),
      .s_axil_awready(awready), .s_axil_wdata(wdata_i), .s_axil_wstrb(wstrb_i),
      .s_axil_wvalid(wvalid_i), .s_axil_wready(wready), .s_axil_bresp(bresp),
      .s_axil_bvalid(bvalid), .s_axil_bready(bready_i), .s_axil_araddr(araddr_i),
      .s_axil_arprot(3'b000), .s_axil_arvalid(arvalid_i), .s_axil_arready(arready),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid),
      .s_axil_rready(rready_i), .irq_o(),
      .s_axis_tdata('0), .s_axis_tuser('0), .s_axis_tlast(1'b0), .s_axis_tvalid(1'b0),
      .s_axis_tready(), .m_axis_tdata(), .m_axis_tuser(), .m_axis_tlast(), .m_axis_tvalid(),
      .m_axis_tready(1'b0)
    );

    logic [DATA_W-1:0] chosen_now;  // what the chosen register holds
    always_comb begin
      chosen_now = '0;
      if (chosen_q == step_array_regs_pkg::CALLS) begin
        chosen_now = u_dut.u_registers.calls_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_START) begin
        chosen_now = u_dut.u_registers.segment_start_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_LENGTH) begin
        chosen_now = u_dut.u_registers.segment_length_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_REPEAT) begin
        chosen_now = u_dut.u_registers.segment_repeat_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_IN_BASE) begin
        chosen_now = u_dut.u_registers.segment_in_base_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_IN_STRIDE) begin
        chosen_now = u_dut.u_registers.segment_in_stride_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_OUT_BASE) begin
        chosen_now = u_dut.u_registers.segment_out_base_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_OUT_STRIDE) begin
        chosen_now = u_dut.u_registers.segment_out_stride_o;
      end
      if (chosen_q == step_array_regs_pkg::SEGMENT_FLAGS) begin
        chosen_now = u_dut.u_registers.segment_flags_o;
      end
      if (chosen_q == step_array_regs_pkg::FUNCTION_FIRST) begin
        chosen_now = u_dut.u_registers.function_first_o;
      end
      if (chosen_q == step_array_regs_pkg::FUNCTION_LAST) begin
        chosen_now = u_dut.u_registers.function_last_o;
      end
      if (chosen_q == step_array_regs_pkg::FUNCTION_LOOP_FROM) begin
        chosen_now = u_dut.u_registers.function_loop_from_o;
      end
      if (chosen_q == step_array_regs_pkg::FUNCTION_LOOPS) begin
        chosen_now = u_dut.u_registers.function_loops_o;
      end
      if (chosen_q == step_array_regs_pkg::FUNCTION_INPUTS) begin
        chosen_now = u_dut.u_registers.function_inputs_o;
      end
      if (chosen_q == step_array_regs_pkg::FUNCTION_OUTPUTS) begin
        chosen_now = u_dut.u_registers.function_outputs_o;
      end
      for (int i = 0; i < PROGRAM_WORDS; i++) begin
        if (chosen_q == step_array_regs_pkg::PROGRAM_WORD + WORD_W'(i)) begin
          chosen_now = u_dut.u_registers.program_word_o[DATA_W*i+:DATA_W];
        end
      end
    end
  end

  localparam int SETUP = TOP == ENGINE || TOP == ARRAY ? 3 : 0;  // of axil_slave in it

  logic [2:0] aw_count, w_count, ar_count;

  axil_rules #(.ADDR_W(ADDR_W), .BOUND(2 * SETUP + 2)) u_rules (
    .clk_i, .rst_ni, .changing_i(SETUP > 0 && gen_top.u_dut.u_control.done_i),
    .awaddr_i, .awvalid_i, .awready_i(awready), .wdata_i, .wstrb_i, .wvalid_i,
    .wready_i(wready), .bresp_i(bresp), .bvalid_i(bvalid), .bready_i, .araddr_i, .arvalid_i,
    .arready_i(arready), .rdata_i(rdata), .rresp_i(rresp), .rvalid_i(rvalid), .rready_i,
    .aw_count_o(aw_count), .w_count_o(w_count), .ar_count_o(ar_count)
  );

  // ---------------------------------------------------------------------------------------------
  // What the register map says
  // ---------------------------------------------------------------------------------------------
  logic later_q = 1'b0;
  logic write, read, changes, wrote_q, read_q, writable, writable_q, mapped, mapped_q;
  logic [WORD_W-1:0] write_addr, read_addr;
  assign write = gen_top.u_dut.u_control.u_axil.write_o;
  assign read = gen_top.u_dut.u_control.u_axil.read_o;
  assign write_addr = gen_top.u_dut.u_control.u_axil.write_addr_o;
  assign read_addr = gen_top.u_dut.u_control.u_axil.read_addr_o;
  assign changes = gen_top.u_dut.u_registers.write_i;

  register_map u_write (.address_i(write_addr), .mapped_o(), .writable_o(writable), .held_o());
  register_map u_read (.address_i(read_addr), .mapped_o(mapped), .writable_o(), .held_o());

  always_ff @(posedge clk_i) begin
    later_q <= 1'b1;
    wrote_q <= rst_ni && write;
    writable_q <= writable;
    read_q <= rst_ni && read;
    mapped_q <= mapped;
  end

  always_comb begin
    if (later_q) begin
      read_only_refused: assert (!wrote_q || writable_q || (bvalid && bresp == 2'b10));
      read_only_kept: assert (!changes || (write && writable));
      unmapped_refused: assert (!read_q || mapped_q || (rvalid && rresp == 2'b10 && rdata == '0));
    end
  end

  // ---------------------------------------------------------------------------------------------
  // A register that software writes reads as what was written; any of them
  // ---------------------------------------------------------------------------------------------
  if (HELD) begin : gen_held
    logic held;
    logic [DATA_W-1:0] value_q, value_then_q, data, mask;
    logic chosen_read_q;
    assign data = gen_top.u_dut.u_control.write_data_o;
    assign mask = gen_top.u_dut.u_control.write_mask_o;

    logic held_q;
    register_map u_chosen (.address_i(chosen_i), .mapped_o(), .writable_o(), .held_o(held));
    register_map u_chosen_q (.address_i(chosen_q), .mapped_o(), .writable_o(), .held_o(held_q));

    always_ff @(posedge clk_i) begin
      if (!later_q) begin
        chosen_q <= chosen_i;
      end
      if (!rst_ni) begin
        value_q <= '0;
      end else if (write && write_addr == chosen_q && !gen_top.u_dut.u_control.busy_i) begin
        value_q <= ((value_q & ~mask) | (data & mask)) & KEPT;
      end
      value_then_q <= value_q;
      chosen_read_q <= rst_ni && read && read_addr == chosen_q;
    end

    always_comb begin
      if (!later_q) begin
        assume (held);
      end else begin
        held_given: assert (value_q == gen_top.chosen_now);
        lemma_chosen: assert (held_q);
        held_value: assert (!chosen_read_q || (rresp == 2'b00 && rdata == value_then_q));
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Lemmas of the induction, as for axil_slave
  // ---------------------------------------------------------------------------------------------
  always_comb begin
    if (later_q) begin
      lemma_counts: assert (
          aw_count == 3'(gen_top.u_dut.u_control.u_axil.aw_full_q) + 3'(bvalid) &&
          w_count == 3'(gen_top.u_dut.u_control.u_axil.w_full_q) + 3'(bvalid) &&
          ar_count == 3'(gen_top.u_dut.u_control.u_axil.ar_full_q) + 3'(rvalid));
    end
  end

  if (SETUP > 0) begin : gen_set_up
    always_comb begin
      if (later_q) begin
        lemma_access: assert (
            (!write || (gen_top.u_dut.u_control.u_axil.aw_full_q &&
                        gen_top.u_dut.u_control.u_axil.w_full_q && !bvalid)) &&
            (!read || (gen_top.u_dut.u_control.u_axil.ar_full_q && !rvalid)));
        lemma_counted: assert (
            (gen_top.u_dut.u_control.u_axil.gen_set_up.write_count_q == '0 ||
             (gen_top.u_dut.u_control.u_axil.aw_full_q &&
              gen_top.u_dut.u_control.u_axil.w_full_q)) &&
            (gen_top.u_dut.u_control.u_axil.gen_set_up.read_count_q == '0 ||
             gen_top.u_dut.u_control.u_axil.ar_full_q));
        lemma_in_range: assert (
            32'(gen_top.u_dut.u_control.u_axil.gen_set_up.write_count_q) < SETUP &&
            32'(gen_top.u_dut.u_control.u_axil.gen_set_up.read_count_q) < SETUP);
      end
    end
  end

endmodule
