// Both ends of the AXI4-Streams of the benches: sends and takes blocks of beats on its own, so that
// Python waits once a block instead of once a beat.
//
// A block to send begins when `send_start_i` changes and is over when `send_done_o` equals it. It
// is `send_count_i` beats of 64 bits in `send_i`, the first one lowest; the first is valid in the
// cycle after the start. A block that starts in the same cycle in which the last one is over
// follows it without a bubble.
//
//   63     62    32 31           0
//   [ last | user  |    data    ]
//
// Beats are taken from the change of `take_start_i` on, into `take_o`, in the same form, until
// `take_done_o` equals it: after BEATS of them, after `take_packets_i` packets, or when no packet
// ends for `take_cycles_i` cycles: `hung_o`. What is taken at other times is a `stray_o`.
//
// Of `source_pauses_i` and `sink_pauses_i` there is a bit for each cycle of PAUSES, over and over.
// Where it is high no beat is offered in the next cycle, unless it has been refused before, or none
// is taken.
//
// Latency: as above. Throughput: a beat a cycle each way.

module axis_batch #(
  parameter int SEND_USER_W = 1,
  parameter int TAKE_USER_W = 1,
  parameter int BEATS = 64,
  parameter int PAUSES = 997,
  localparam int BEAT_W = 64,
  localparam int COUNT_W = $clog2(BEATS + 1),
  localparam int PACKETS_W = 32,
  localparam int CYCLES_W = 32,
  localparam int DATA_W = 32
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic [PAUSES-1:0] source_pauses_i,
  input  logic [PAUSES-1:0] sink_pauses_i,

  input  logic                    send_start_i,
  input  logic [COUNT_W-1:0]      send_count_i,
  input  logic [BEATS*BEAT_W-1:0] send_i,
  output logic                    send_done_o,

  input  logic                    take_start_i,
  input  logic [PACKETS_W-1:0]    take_packets_i,
  input  logic [CYCLES_W-1:0]     take_cycles_i,
  output logic                    take_done_o,
  output logic [COUNT_W-1:0]      taken_o,
  output logic [BEATS*BEAT_W-1:0] take_o,
  output logic                    hung_o,
  output logic                    stray_o,
  output logic                    unknown_o,  // a handshake had unknown bits

  output logic [DATA_W-1:0]      m_axis_tdata,
  output logic [SEND_USER_W-1:0] m_axis_tuser,
  output logic                   m_axis_tlast,
  output logic                   m_axis_tvalid,
  input  logic                   m_axis_tready,

  input  logic [DATA_W-1:0]      s_axis_tdata,
  input  logic [TAKE_USER_W-1:0] s_axis_tuser,
  input  logic                   s_axis_tlast,
  input  logic                   s_axis_tvalid,
  output logic                   s_axis_tready
);

  localparam int LAST_AT = BEAT_W - 1;
  localparam int PAUSE_W = $clog2(PAUSES);

  logic [PAUSE_W-1:0] pause_q;
  logic [COUNT_W-1:0] send_q;
  logic [PACKETS_W-1:0] packets_q;
  logic [CYCLES_W-1:0] waited_q;
  logic offers_q, takes_q, sends, takes, taking;

  logic [BEAT_W-1:0] beat;
  assign beat = send_i[BEAT_W*send_q +: BEAT_W];
  assign m_axis_tdata = beat[DATA_W-1:0];
  assign m_axis_tuser = beat[DATA_W +: SEND_USER_W];
  assign m_axis_tlast = beat[LAST_AT];
  assign m_axis_tvalid = offers_q && send_start_i != send_done_o;

  assign s_axis_tready = takes_q;

  // What is unknown moves nothing, so that a wait for it ends.
  assign sends = m_axis_tvalid && m_axis_tready === 1'b1;
  assign takes = s_axis_tvalid === 1'b1 && s_axis_tready;
  assign taking = take_start_i != take_done_o;

  // The first beat of a block has not come.
  logic fresh_q, filled, late;
  logic [COUNT_W-1:0] place;
  logic [PACKETS_W-1:0] packets;
  assign place = fresh_q ? '0 : taken_o;
  assign packets = fresh_q ? '0 : packets_q;
  assign filled = takes && taking && (place == COUNT_W'(BEATS - 1) ||
                                      (s_axis_tlast && packets + 1'b1 == take_packets_i));
  assign late = taking && waited_q >= take_cycles_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pause_q <= '0;
      offers_q <= 1'b0;
      send_q <= '0;
      send_done_o <= send_start_i;
      take_done_o <= take_start_i;
      taken_o <= '0;
      packets_q <= '0;
      waited_q <= '0;
      fresh_q <= 1'b1;
      hung_o <= 1'b0;
      stray_o <= 1'b0;
      unknown_o <= 1'b0;
      takes_q <= 1'b0;
    end else begin
      pause_q <= pause_q == PAUSE_W'(PAUSES - 1) ? '0 : pause_q + 1'b1;
      takes_q <= !sink_pauses_i[pause_q];
      unknown_o <= unknown_o || (^{m_axis_tready, s_axis_tvalid}) === 1'bx;

      if (sends || !m_axis_tvalid) begin
        offers_q <= send_start_i != send_done_o && !source_pauses_i[pause_q];
      end
      if (sends) begin
        send_q <= send_q + 1'b1;
        if (send_q + 1'b1 == send_count_i) begin
          send_q <= '0;
          send_done_o <= send_start_i;
        end
      end

      waited_q <= !taking || (takes && s_axis_tlast) ? '0 : waited_q + 1'b1;
      stray_o <= stray_o || (takes && !taking);
      if (takes && taking) begin
        take_o[BEAT_W*place +: BEAT_W] <=
            {s_axis_tlast, (BEAT_W - DATA_W - 1)'(s_axis_tuser), s_axis_tdata};
        taken_o <= place + 1'b1;
        packets_q <= packets + PACKETS_W'(s_axis_tlast);
        fresh_q <= 1'b0;
      end
      if (filled || late) begin
        take_done_o <= take_start_i;
        fresh_q <= 1'b1;
        hung_o <= !filled;
      end
    end
  end

endmodule
