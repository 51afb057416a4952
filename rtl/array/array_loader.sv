// Loader of the step array: takes calls from an AXI4-Stream, writes their words into the input
// memories of array_core, and makes batches of them.
//
// From `start_i` on `calls_i` calls are taken. TUSER of a call's first beat is the number of its
// function, TLAST marks its last beat. A call of a function that is not stored, or whose TLAST is
// not with the last of the function's inputs, is dropped up to and with its TLAST: it counts as
// taken, but the next call takes its place. All calls of a batch are of one function, the k-th is
// that of system k. A batch is complete when all systems have a call, when a call of another
// function comes, and behind the last call.
//
// The memories have two halves, filled alternately, half 0 first after a start: one is filled while
// the batch in the other is offered (`batch_*`), taken, and run; `released_i` says that the oldest
// of these is not read any more. `finished_o`: all calls were taken, those
// that were dropped are counted, no half is in use.
//
// A beat passes a register, then one with what is stored of its function. One that comes while the
// first must wait goes to a spare register: `s_axis_tready` waits for nothing but that register.
// Their data waits in a ring of its own, written whether a beat comes or not: what is wide does not
// wait for an answer. `clear_i` empties all but the table of functions, which `rst_ni` clears.
//
// Latency: 2 cycles from a beat to its write, 3 from the last beat of a batch to its offer.
// Throughput: one beat a cycle; a change of the function within a batch takes a cycle.

module array_loader #(
  parameter int W = 32,
  parameter int CONTEXTS = 1,
  parameter int DATAPATHS = 2,
  parameter int IN_DEPTH = 64,
  parameter int FUNCTIONS = 16,
  localparam int DATA_W = 32,
  localparam int COUNT_W = 32,
  localparam int IN_W = step_pkg::index_w(IN_DEPTH),
  localparam int FUNCTION_W = step_pkg::index_w(FUNCTIONS),
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS),
  localparam int V_W = array_pkg::datapath_w(DATAPATHS),
  localparam int ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, IN_DEPTH)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               start_i,
  input  logic [COUNT_W-1:0] calls_i,
  output logic               finished_o,
  output logic [COUNT_W-1:0] taken_o,
  output logic [COUNT_W-1:0] dropped_o,

  input  logic                  function_store_i,
  input  logic [FUNCTION_W-1:0] function_number_i,
  input  logic [IN_W:0]         function_inputs_i,

  input  logic [DATA_W-1:0]     s_axis_tdata,
  input  logic [FUNCTION_W-1:0] s_axis_tuser,
  input  logic                  s_axis_tlast,
  input  logic                  s_axis_tvalid,
  output logic                  s_axis_tready,

  output logic                 write_o,
  output logic [V_W-1:0]       write_datapath_o,
  output logic [ADDRESS_W-1:0] write_address_o,
  output logic [W-1:0]         write_data_o,

  output logic                  batch_valid_o,
  output logic                  batch_half_o,
  output logic [FUNCTION_W-1:0] batch_function_o,
  output logic [LIVE_W-1:0]     batch_count_o,
  input  logic                  batch_take_i,
  input  logic                  released_i
);

  localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS);
  localparam int TABLE = 1 << FUNCTION_W;  // a bit for each number that a beat may have

  if (W > DATA_W) begin : gen_check_width
    initial $fatal(1, "%m: a float of %0d bits does not fit a beat of %0d", W, DATA_W);
  end
  if (!array_pkg::is_depth(IN_DEPTH)) begin : gen_check_depth
    initial $fatal(1, "%m: IN_DEPTH %0d must be a power of two, %0d to %0d",
                   IN_DEPTH, array_pkg::MIN_DEPTH, array_pkg::MAX_DEPTH);
  end

  // ---------------------------------------------------------------------------------------------
  // Table of functions
  // ---------------------------------------------------------------------------------------------
  logic [IN_W-1:0] inputs_table_q[TABLE];  // less one; distributed RAM
  logic [TABLE-1:0] stored_q;

  always_ff @(posedge clk_i) begin
    if (function_store_i) begin
      inputs_table_q[function_number_i] <= IN_W'(function_inputs_i - 1'b1);
    end
    if (!rst_ni) begin
      stored_q <= '0;
    end else if (function_store_i) begin
      stored_q[function_number_i] <= 1'b1;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Beats: from the stream, and with what is known of their function
  // ---------------------------------------------------------------------------------------------
  localparam int SLOTS = 4;  // three beats that wait, and the one that may come
  localparam int SLOT_W = 2;
  logic open_q, last_call_q, take, call_taken;
  logic [COUNT_W-1:0] calls_left_q, taken_q;
  logic spare_valid_q, spare_last_q, spare_final_q, accept;
  logic beat_valid_q, beat_last_q, beat_final_q, valid_q, last_q, final_q, known_q, move, consume;
  logic [W-1:0] data_q[SLOTS];  // distributed RAM
  logic [SLOT_W-1:0] write_slot_q, read_slot_q;
  logic [FUNCTION_W-1:0] spare_function_q, beat_function_q, function_q;
  logic [IN_W-1:0] inputs_q;
  assign s_axis_tready = open_q && !spare_valid_q;
  assign take = s_axis_tvalid && s_axis_tready;
  assign call_taken = take && s_axis_tlast;
  assign move = beat_valid_q && (!valid_q || consume);
  assign accept = !beat_valid_q || move;
  assign taken_o = taken_q;

  always_ff @(posedge clk_i) begin
    data_q[write_slot_q] <= s_axis_tdata[W-1:0];
    if (!spare_valid_q) begin
      spare_function_q <= s_axis_tuser;
      spare_last_q <= s_axis_tlast;
      spare_final_q <= s_axis_tlast && last_call_q;
    end
    if (accept) begin
      beat_function_q <= spare_valid_q ? spare_function_q : s_axis_tuser;
      beat_last_q <= spare_valid_q ? spare_last_q : s_axis_tlast;
      beat_final_q <= spare_valid_q ? spare_final_q : s_axis_tlast && last_call_q;
    end
    if (move) begin
      function_q <= beat_function_q;
      last_q <= beat_last_q;
      final_q <= beat_final_q;
      known_q <= stored_q[beat_function_q];
      inputs_q <= inputs_table_q[beat_function_q];
    end
    if (start_i) begin
      calls_left_q <= calls_i;
      last_call_q <= calls_i == COUNT_W'(1);
    end else if (call_taken) begin
      calls_left_q <= calls_left_q - 1'b1;
      last_call_q <= calls_left_q == COUNT_W'(2);
    end
    if (clear_i || start_i) begin
      open_q <= start_i && !clear_i;
      spare_valid_q <= 1'b0;
      beat_valid_q <= 1'b0;
      valid_q <= 1'b0;
      write_slot_q <= '0;
      read_slot_q <= '0;
      taken_q <= '0;
    end else begin
      open_q <= open_q && !(call_taken && last_call_q);
      spare_valid_q <= !accept && (spare_valid_q || take);
      beat_valid_q <= !accept || spare_valid_q || take;
      valid_q <= move || (valid_q && !consume);
      write_slot_q <= write_slot_q + SLOT_W'(take);
      read_slot_q <= read_slot_q + SLOT_W'(consume);
      taken_q <= taken_q + COUNT_W'(call_taken);
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The call that comes in
  // ---------------------------------------------------------------------------------------------
  logic first_q, dropping_q, some_q, malformed_q;  // some_q: the half has a call
  logic drop, other, room, inputs_end, placed, malformed, complete, close;
  logic [FUNCTION_W-1:0] call_function_q, call_function;
  logic [IN_W-1:0] call_inputs_q, call_inputs, index_q;
  logic [COUNT_W-1:0] dropped_q;
  assign drop = dropping_q || (first_q && !known_q);
  assign other = first_q && some_q && function_q != call_function_q;
  assign consume = valid_q && (drop || (room && !other));
  assign write_o = consume && !drop;
  assign call_function = write_o && first_q ? function_q : call_function_q;
  assign call_inputs = first_q ? inputs_q : call_inputs_q;
  assign inputs_end = index_q == call_inputs;
  assign placed = write_o && last_q && inputs_end;
  assign malformed = consume && last_q && !placed;
  assign close = (valid_q && !drop && other) || (placed && complete) ||
                 (consume && final_q && (placed || some_q));
  assign dropped_o = dropped_q;

  always_ff @(posedge clk_i) begin
    if (write_o && first_q) begin
      call_function_q <= function_q;
      call_inputs_q <= inputs_q;
    end
    if (clear_i || start_i) begin
      first_q <= 1'b1;
      dropping_q <= 1'b0;
      index_q <= '0;
      malformed_q <= 1'b0;
      dropped_q <= '0;
    end else begin
      malformed_q <= malformed;
      dropped_q <= dropped_q + COUNT_W'(malformed_q);
      if (consume) begin
        first_q <= last_q;
        dropping_q <= !last_q && (drop || inputs_end);
        index_q <= last_q ? '0 : index_q + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // The system that it is for
  // ---------------------------------------------------------------------------------------------
  logic [CONTEXT_W-1:0] context_q;
  logic [V_W-1:0] datapath_q;
  logic [LIVE_W-1:0] count_q;
  logic fill_half_q, last_context;
  assign last_context = context_q == CONTEXT_W'(CONTEXTS - 1);
  assign complete = last_context && datapath_q == V_W'(DATAPATHS - 1);
  assign write_datapath_o = datapath_q;
  assign write_data_o = data_q[read_slot_q];

  if (CONTEXTS == 1) begin : gen_address
    assign write_address_o = {fill_half_q, index_q};
  end else begin : gen_addresses
    assign write_address_o = {fill_half_q, context_q, index_q};
  end

  always_ff @(posedge clk_i) begin
    if (clear_i || start_i || close) begin
      some_q <= 1'b0;
      context_q <= '0;
      datapath_q <= '0;
      count_q <= '0;
    end else if (placed) begin
      some_q <= 1'b1;
      context_q <= last_context ? '0 : context_q + 1'b1;
      datapath_q <= datapath_q + V_W'(last_context);
      count_q <= count_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Halves: filled, offered, taken, released
  // ---------------------------------------------------------------------------------------------
  logic [1:0] used_q, offered_q;  // used from the offer to the release
  logic [1:0][FUNCTION_W-1:0] functions_q;
  logic [1:0][LIVE_W-1:0] counts_q;
  logic offer_half_q, release_half_q;
  assign room = !used_q[fill_half_q];
  assign batch_valid_o = offered_q[offer_half_q];
  assign batch_half_o = offer_half_q;
  assign batch_function_o = functions_q[offer_half_q];
  assign batch_count_o = counts_q[offer_half_q];
  assign finished_o = !open_q && !beat_valid_q && !valid_q && !malformed_q && used_q == '0;

  always_ff @(posedge clk_i) begin
    if (close) begin
      functions_q[fill_half_q] <= call_function;
      counts_q[fill_half_q] <= count_q + LIVE_W'(placed);
    end
    if (clear_i || start_i) begin
      used_q <= '0;
      offered_q <= '0;
      fill_half_q <= 1'b0;
      offer_half_q <= 1'b0;
      release_half_q <= 1'b0;
    end else begin
      if (close) begin
        used_q[fill_half_q] <= 1'b1;
        offered_q[fill_half_q] <= 1'b1;
        fill_half_q <= !fill_half_q;
      end
      if (batch_take_i) begin
        offered_q[offer_half_q] <= 1'b0;
        offer_half_q <= !offer_half_q;
      end
      if (released_i) begin
        used_q[release_half_q] <= 1'b0;
        release_half_q <= !release_half_q;
      end
    end
  end

  if (W < DATA_W) begin : gen_unused
    logic unused;
    assign unused = &{1'b0, s_axis_tdata[DATA_W-1:W]};
  end

endmodule
