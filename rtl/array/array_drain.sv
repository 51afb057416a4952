// Drain of the step array: gives the results of calls out of the output memories of array_core as
// an AXI4-Stream.
//
// The memories have two halves, used alternately, half 0 first after a start. The sequencer takes a
// half that is free (`take_i`, for so many calls of a function); once it is complete (`emitted_i`)
// the calls are given, in the order of their systems: the function's outputs in order, TLAST with
// the last, TUSER the fault bit of the call above the number of its function. A float stands in the
// low bits of TDATA. Behind its last read the half is free again: whatever comes next writes
// to it later than that read. `finished_o`: no half is taken, all that was read has been accepted.
//
// What is read passes a FIFO: a word is read only if there is a place for it. `m_axis_tvalid` and
// the payload come from registers, and so do datapath and address of a read, which go far.
// `clear_i` empties everything; only the table of functions stays.
//
// Latency: READ_LATENCY + 4 cycles from `emitted_i` to the first beat. Throughput: one beat a
// cycle.

module array_drain #(
  parameter int W = 32,
  parameter int CONTEXTS = 1,
  parameter int DATAPATHS = 2,
  parameter int OUT_DEPTH = 64,
  parameter int FUNCTIONS = 16,
  localparam int DATA_W = 32,
  localparam int COUNT_W = 32,
  localparam int OUT_W = step_pkg::index_w(OUT_DEPTH),
  localparam int FUNCTION_W = step_pkg::index_w(FUNCTIONS),
  localparam int USER_W = FUNCTION_W + 1,
  localparam int LIVE_W = array_pkg::live_w(DATAPATHS, CONTEXTS),
  localparam int V_W = array_pkg::datapath_w(DATAPATHS),
  localparam int ADDRESS_W = array_pkg::stream_address_w(CONTEXTS, OUT_DEPTH)
) (
  input  logic               clk_i,
  input  logic               clear_i,
  input  logic               start_i,
  output logic               finished_o,
  output logic [COUNT_W-1:0] given_o,

  input  logic                  function_store_i,
  input  logic [FUNCTION_W-1:0] function_number_i,
  input  logic [OUT_W:0]        function_outputs_i,

  output logic [1:0]            free_o,
  input  logic                  take_i,
  input  logic                  take_half_i,
  input  logic [FUNCTION_W-1:0] take_function_i,
  input  logic [LIVE_W-1:0]     take_count_i,
  input  logic                  emitted_i,
  input  logic                  emitted_half_i,

  output logic [V_W-1:0]       read_datapath_o,
  output logic [ADDRESS_W-1:0] read_address_o,
  input  logic [W-1:0]         read_data_i,
  input  logic                 read_fault_i,

  output logic [DATA_W-1:0] m_axis_tdata,
  output logic [USER_W-1:0] m_axis_tuser,
  output logic              m_axis_tlast,
  output logic              m_axis_tvalid,
  input  logic              m_axis_tready
);

  localparam int CONTEXT_W = step_pkg::context_w(CONTEXTS);
  localparam int LATENCY = 1 + array_pkg::READ_LATENCY;  // the register of the address
  // Cycles from a read to the next one in the same place: memory, FIFO, output register, its count
  localparam int ROUND_TRIP = LATENCY + 3;
  localparam int PLACE_W = $clog2(ROUND_TRIP);
  localparam int PLACES = 1 << PLACE_W;

  if (!array_pkg::is_depth(OUT_DEPTH)) begin : gen_check_depth
    initial $fatal(1, "%m: OUT_DEPTH %0d must be a power of two, %0d to %0d",
                   OUT_DEPTH, array_pkg::MIN_DEPTH, array_pkg::MAX_DEPTH);
  end

  // ---------------------------------------------------------------------------------------------
  // Halves: taken, full, free
  // ---------------------------------------------------------------------------------------------
  logic [OUT_W-1:0] outputs_table_q[step_pkg::places(FUNCTIONS)];  // less one; distributed RAM
  logic [1:0] taken_q, full_q;
  logic [1:0][FUNCTION_W-1:0] functions_q;
  logic [1:0][OUT_W-1:0] outputs_q;
  logic [1:0][LIVE_W-1:0] counts_q;  // less one
  logic half_q, half_ends;
  assign free_o = ~taken_q;

  always_ff @(posedge clk_i) begin
    if (function_store_i) begin
      outputs_table_q[function_number_i] <= OUT_W'(function_outputs_i - 1'b1);
    end
    if (take_i) begin
      functions_q[take_half_i] <= take_function_i;
      outputs_q[take_half_i] <= outputs_table_q[take_function_i];
      counts_q[take_half_i] <= take_count_i - 1'b1;
    end
    if (clear_i || start_i) begin
      taken_q <= '0;
      full_q <= '0;
      half_q <= 1'b0;
    end else begin
      if (take_i) begin
        taken_q[take_half_i] <= 1'b1;
      end
      if (emitted_i) begin
        full_q[emitted_half_i] <= 1'b1;
      end
      if (half_ends) begin
        taken_q[half_q] <= 1'b0;
        full_q[half_q] <= 1'b0;
        half_q <= !half_q;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Reads
  // ---------------------------------------------------------------------------------------------
  // Counts go down, and what they say is known one cycle ahead: no comparison stands before a read.
  // While nothing is read they follow what the half says that is next.
  logic [CONTEXT_W-1:0] context_q;
  logic [V_W-1:0] datapath_q, read_datapath_q;
  logic [OUT_W-1:0] index_q, outputs_left_q;
  logic [LIVE_W-1:0] calls_left_q;
  logic [ADDRESS_W-1:0] address, read_address_q;
  logic next_half, read, waiting, call_ends, last_index_q, last_call_q, last_context, some_place_q;
  assign waiting = !full_q[half_q];
  assign read = full_q[half_q] && some_place_q;
  assign last_context = context_q == CONTEXT_W'(CONTEXTS - 1);
  assign call_ends = read && last_index_q;
  assign half_ends = call_ends && last_call_q;
  assign next_half = half_q ^ half_ends;
  assign read_datapath_o = read_datapath_q;
  assign read_address_o = read_address_q;

  if (CONTEXTS == 1) begin : gen_address
    assign address = {half_q, index_q};
  end else begin : gen_addresses
    assign address = {half_q, context_q, index_q};
  end

  always_ff @(posedge clk_i) begin
    read_datapath_q <= datapath_q;
    read_address_q <= address;
    if (waiting || call_ends) begin
      outputs_left_q <= outputs_q[next_half];
      last_index_q <= outputs_q[next_half] == '0;
    end else if (read) begin
      outputs_left_q <= outputs_left_q - 1'b1;
      last_index_q <= outputs_left_q == OUT_W'(1);
    end
    if (waiting || half_ends) begin
      calls_left_q <= counts_q[next_half];
      last_call_q <= counts_q[next_half] == '0;
    end else if (call_ends) begin
      calls_left_q <= calls_left_q - 1'b1;
      last_call_q <= calls_left_q == LIVE_W'(1);
    end
    if (clear_i || start_i || half_ends) begin
      index_q <= '0;
      context_q <= '0;
      datapath_q <= '0;
    end else if (read) begin
      index_q <= last_index_q ? '0 : index_q + 1'b1;
      if (last_index_q) begin
        context_q <= last_context ? '0 : context_q + 1'b1;
        datapath_q <= datapath_q + V_W'(last_context);
      end
    end
  end

  // ---------------------------------------------------------------------------------------------
  // What was read: beside the memories, FIFO (distributed RAM), output register
  // ---------------------------------------------------------------------------------------------
  localparam int BEAT_W = W + USER_W + 1;

  logic [LATENCY-1:0] reading_q;
  logic arrives, arrives_last, load, accept, valid_q;
  logic [FUNCTION_W-1:0] arrives_function;
  logic [BEAT_W-1:0] fifo_q[PLACES];
  logic [BEAT_W-1:0] beat_q;
  logic [W-1:0] beat_data;
  logic [PLACE_W:0] write_q, read_q, places_q, places_d;  // pointers: one bit more than an index
  logic [COUNT_W-1:0] given_q;

  step_delay #(
    .WIDTH(FUNCTION_W + 1),
    .CYCLES(LATENCY)
  ) u_beside (
    .clk_i,
    .data_i({functions_q[half_q], last_index_q}),
    .data_o({arrives_function, arrives_last})
  );

  assign arrives = reading_q[LATENCY-1];
  assign load = write_q != read_q && (!valid_q || m_axis_tready);
  assign accept = valid_q && m_axis_tready;
  assign places_d = places_q - (PLACE_W + 1)'(read) + (PLACE_W + 1)'(accept);
  assign finished_o = taken_q == '0 && places_q == (PLACE_W + 1)'(PLACES);
  assign given_o = given_q;
  assign m_axis_tvalid = valid_q;
  assign {beat_data, m_axis_tuser, m_axis_tlast} = beat_q;
  assign m_axis_tdata = DATA_W'(beat_data);

  always_ff @(posedge clk_i) begin
    if (arrives) begin
      fifo_q[write_q[PLACE_W-1:0]] <= {read_data_i, read_fault_i, arrives_function, arrives_last};
    end
    if (load) begin
      beat_q <= fifo_q[read_q[PLACE_W-1:0]];
    end
    if (clear_i || start_i) begin
      reading_q <= '0;
      write_q <= '0;
      read_q <= '0;
      places_q <= (PLACE_W + 1)'(PLACES);
      some_place_q <= 1'b1;
      valid_q <= 1'b0;
      given_q <= '0;
    end else begin
      reading_q <= {reading_q[LATENCY-2:0], read};
      write_q <= write_q + (PLACE_W + 1)'(arrives);
      read_q <= read_q + (PLACE_W + 1)'(load);
      places_q <= places_d;
      some_place_q <= places_d != '0;
      valid_q <= load || (valid_q && !m_axis_tready);
      given_q <= given_q + COUNT_W'(accept && m_axis_tlast);
    end
  end

endmodule
