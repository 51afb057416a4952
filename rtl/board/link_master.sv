// What frames of the link ask for (docs/board.md), done as an AXI4-Lite master, one access after
// the other; and the answers, kept until WINDOW more frames have been done.
//
// A frame is done once: one that comes again is answered again. One that is not the next is
// dropped, and so are all before the first HELLO. Its words are read from the half of the memory
// that `half_o` names, the words of its answer written to the memory of answers.
//
// Latency: 3 cycles for each word of the frame, and those of the bus. Throughput: one at a time.

module link_master
  import link_pkg::*;
#(
  parameter int ADDR_W = 12
) (
  input  logic clk_i,
  input  logic rst_ni,

  // frames
  input  logic               frame_i,  // one more is stored
  input  logic [FRAME_W-1:0] words_i,
  output logic               full_o,   // two are
  output logic               half_o,
  output logic [FRAME_W-1:0] address_o,
  input  logic [WORD_W-1:0]  word_i,   // of two cycles before

  // answers
  output logic                        write_o,
  output logic [WINDOW_W+FRAME_W-1:0] write_address_o,
  output logic [WORD_W-1:0]           write_data_o,
  output logic                        send_o,
  input  logic                        ready_i,
  output logic [WINDOW_W-1:0]         slot_o,
  output logic [FRAME_W-1:0]          words_o,

  output logic [ADDR_W-1:0] m_axil_awaddr,
  output logic [2:0]        m_axil_awprot,
  output logic              m_axil_awvalid,
  input  logic              m_axil_awready,
  output logic [WORD_W-1:0] m_axil_wdata,
  output logic [3:0]        m_axil_wstrb,
  output logic              m_axil_wvalid,
  input  logic              m_axil_wready,
  input  logic [1:0]        m_axil_bresp,
  input  logic              m_axil_bvalid,
  output logic              m_axil_bready,
  output logic [ADDR_W-1:0] m_axil_araddr,
  output logic [2:0]        m_axil_arprot,
  output logic              m_axil_arvalid,
  input  logic              m_axil_arready,
  input  logic [WORD_W-1:0] m_axil_rdata,
  input  logic [1:0]        m_axil_rresp,
  input  logic              m_axil_rvalid,
  output logic              m_axil_rready
);

  if (ADDR_W < 3 || ADDR_W > ADDRESS_W) begin : gen_check
    initial $fatal(1, "%m: ADDR_W %0d must be 3 to %0d", ADDR_W, ADDRESS_W);
  end

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] HEADER = 3'd1;
  localparam logic [2:0] GREET = 3'd2;  // write the word about the link
  localparam logic [2:0] OPERATION = 3'd3;
  localparam logic [2:0] WRITE = 3'd4;
  localparam logic [2:0] READ = 3'd5;
  localparam logic [2:0] STATUS = 3'd6;  // write the last word
  localparam logic [2:0] DROP = 3'd7;  // free the half

  localparam logic [FRAME_W-1:0] LAST_WORD = FRAME_W'(FRAME_WORDS - 2);  // before the checksum
  localparam logic [WORD_W-1:0] LINK_WORD = {16'(VERSION), 8'(WINDOW), 8'(FRAME_WORDS)};

  // ---------------------------------------------------------------------------------------------
  // Frames that wait: two, each with its length
  // ---------------------------------------------------------------------------------------------
  logic [1:0] waiting_q;
  logic [FRAME_W-1:0] first_q, second_q;
  logic half_q, done;
  assign full_o = waiting_q[1];
  assign half_o = half_q;

  always_ff @(posedge clk_i) begin
    if (frame_i && (waiting_q == 2'd0 || done)) begin
      first_q <= words_i;
    end else if (done) begin
      first_q <= second_q;
    end
    if (frame_i) begin
      second_q <= words_i;
    end
    waiting_q <= waiting_q + 2'(frame_i) - 2'(done);
    half_q <= half_q ^ done;
    if (!rst_ni) begin
      waiting_q <= '0;
      half_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The frame that is done
  // ---------------------------------------------------------------------------------------------
  logic [2:0] state_q;
  logic near_q, fetched_q;  // `word_i` will be, and is, the word at `at_q`
  logic [FRAME_W-1:0] at_q, out_q;  // words of the frame, and of its answer
  logic [WINDOW_W-1:0] slot_q;
  logic [ADDRESS_W-1:0] address_q;
  logic [COUNT_W-1:0] left_q, accesses_q, failed_q;  // `failed_q`: the first one, counted from 1
  logic fixed_q;
  assign address_o = at_q;

  // Sequence numbers: of the next frame, of the next answer to send, and how many answers are kept
  logic linked_q;
  logic [SEQUENCE_W-1:0] next_q, send_q, age_q, unsent;
  logic [WINDOW_W:0] kept_q;
  assign unsent = next_q - send_q;

  // Of the first word, which is there since the cycle before HEADER at least
  logic is_hello_q, is_access_q, is_next, is_again;
  logic [KIND_W-1:0] kind;
  assign kind = word_i[SEQUENCE_W+:KIND_W];
  assign is_next = is_access_q && linked_q && age_q == '0;
  assign is_again = is_access_q && linked_q && age_q != '0 && age_q <= SEQUENCE_W'(kept_q);

  always_ff @(posedge clk_i) begin
    age_q <= next_q - word_i[SEQUENCE_W-1:0];
    is_hello_q <= kind == HELLO;
    is_access_q <= kind == ACCESS;
  end

  logic bus_done, bus_error, at_end;
  assign at_end = at_q == first_q;
  assign done = state_q == DROP;

  logic [WINDOW*FRAME_W-1:0] lengths_q;
  assign send_o = unsent != '0;
  assign slot_o = send_q[WINDOW_W-1:0];
  assign words_o = lengths_q[FRAME_W*32'(slot_o)+:FRAME_W];

  always_ff @(posedge clk_i) begin
    near_q <= 1'b1;
    fetched_q <= near_q;
    if (send_o && ready_i) begin
      send_q <= send_q + 1'b1;
    end
    if (state_q == IDLE) begin
      if (waiting_q != '0 && fetched_q) begin
        state_q <= HEADER;
      end
    end else if (state_q == HEADER) begin
      slot_q <= word_i[WINDOW_W-1:0];
      at_q <= FRAME_W'(1);
      near_q <= 1'b0;
      fetched_q <= 1'b0;
      out_q <= FRAME_W'(1);
      accesses_q <= COUNT_W'(1);
      failed_q <= '0;
      state_q <= is_hello_q ? GREET : is_next ? OPERATION : DROP;
      if (is_hello_q) begin
        linked_q <= 1'b1;
        kept_q <= '0;
        next_q <= word_i[SEQUENCE_W-1:0];
        send_q <= word_i[SEQUENCE_W-1:0];
      end else if (is_again && age_q > unsent) begin
        send_q <= word_i[SEQUENCE_W-1:0];
      end
    end else if (state_q == GREET) begin
      out_q <= FRAME_W'(2);
      state_q <= OPERATION;
    end else if (state_q == OPERATION) begin
      address_q <= word_i[WORD_W-1:COUNT_W];
      address_q[OP_FIXED:OP_WRITE] <= '0;
      fixed_q <= word_i[COUNT_W+OP_FIXED];
      left_q <= word_i[COUNT_W-1:0];
      if (at_end) begin
        state_q <= STATUS;
      end else if (fetched_q) begin
        at_q <= at_q + 1'b1;
        near_q <= 1'b0;
        fetched_q <= 1'b0;
        if (word_i[COUNT_W-1:0] != '0) begin
          state_q <= word_i[COUNT_W+OP_WRITE] ? WRITE : READ;
        end
      end
    end else if (state_q == WRITE || state_q == READ) begin
      if (bus_done || left_q == '0) begin
        near_q <= 1'b0;
        fetched_q <= 1'b0;
      end
      if (left_q == '0) begin
        state_q <= OPERATION;
      end else if (state_q == WRITE ? at_end : out_q == LAST_WORD) begin
        failed_q <= failed_q == '0 ? accesses_q : failed_q;  // no such word, or no room for it
        state_q <= STATUS;
      end else if (bus_done) begin
        failed_q <= failed_q == '0 && bus_error ? accesses_q : failed_q;
        accesses_q <= accesses_q + 1'b1;
        left_q <= left_q - 1'b1;
        at_q <= at_q + FRAME_W'(state_q == WRITE);
        out_q <= out_q + FRAME_W'(state_q == READ);
        if (!fixed_q) begin
          address_q <= address_q + ADDRESS_W'(WORD_BYTES);
        end
      end
    end else if (state_q == STATUS) begin
      lengths_q[FRAME_W*32'(slot_q)+:FRAME_W] <= out_q + 1'b1;
      next_q <= next_q + 1'b1;
      kept_q <= kept_q[WINDOW_W] ? kept_q : kept_q + 1'b1;
      state_q <= DROP;
    end else begin
      at_q <= '0;
      near_q <= 1'b0;
      fetched_q <= 1'b0;
      state_q <= IDLE;
    end
    if (!rst_ni) begin
      state_q <= IDLE;
      at_q <= '0;
      near_q <= 1'b0;
      fetched_q <= 1'b0;
      linked_q <= 1'b0;
      kept_q <= '0;
      next_q <= '0;
      send_q <= '0;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The answer's words
  // ---------------------------------------------------------------------------------------------
  logic [FRAME_W-1:0] place;
  logic read_done;
  assign read_done = state_q == READ && bus_done;
  assign place = state_q == HEADER ? '0 : out_q;
  assign write_o = (state_q == HEADER && (is_hello_q || is_next)) || state_q == GREET ||
                   read_done || state_q == STATUS;
  assign write_address_o = {state_q == HEADER ? word_i[WINDOW_W-1:0] : slot_q, place};
  assign write_data_o =
      state_q == HEADER ? {{(WORD_W - KIND_W - SEQUENCE_W) {1'b0}}, kind, word_i[SEQUENCE_W-1:0]} :
      state_q == GREET ? LINK_WORD :
      state_q == READ ? m_axil_rdata : {{(WORD_W - COUNT_W) {1'b0}}, failed_q};

  // ---------------------------------------------------------------------------------------------
  // The bus: one access at a time
  // ---------------------------------------------------------------------------------------------
  localparam logic [1:0] OKAY = 2'b00;
  logic access_write, access_read, aw_done_q, w_done_q, ar_done_q;
  assign access_write = state_q == WRITE && left_q != '0 && !at_end && fetched_q;
  assign access_read = state_q == READ && left_q != '0 && out_q != LAST_WORD && fetched_q;

  assign m_axil_awaddr = address_q[ADDR_W-1:0];
  assign m_axil_awprot = '0;
  assign m_axil_awvalid = access_write && !aw_done_q;
  assign m_axil_wdata = word_i;
  assign m_axil_wstrb = '1;
  assign m_axil_wvalid = access_write && !w_done_q;
  assign m_axil_bready = 1'b1;
  assign m_axil_araddr = address_q[ADDR_W-1:0];
  assign m_axil_arprot = '0;
  assign m_axil_arvalid = access_read && !ar_done_q;
  assign m_axil_rready = 1'b1;
  assign bus_done = (state_q == WRITE && m_axil_bvalid) || (state_q == READ && m_axil_rvalid);
  assign bus_error = (state_q == WRITE ? m_axil_bresp : m_axil_rresp) != OKAY;

  always_ff @(posedge clk_i) begin
    aw_done_q <= !bus_done && (aw_done_q || (m_axil_awvalid && m_axil_awready));
    w_done_q <= !bus_done && (w_done_q || (m_axil_wvalid && m_axil_wready));
    ar_done_q <= !bus_done && (ar_done_q || (m_axil_arvalid && m_axil_arready));
    if (!rst_ni) begin
      aw_done_q <= 1'b0;
      w_done_q <= 1'b0;
      ar_done_q <= 1'b0;
    end
  end

  // Addresses beyond the bus' width are taken modulo it
  logic unused;
  assign unused = &{1'b0, address_q};

endmodule
