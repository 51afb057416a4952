// Latencies, counts and widths that the parts of the step array share.
//
// A system is one context of one datapath; its number is `datapath * contexts + context`. An
// address of an input or output memory is {half, context, index}, without bits of a context where
// there is only one.
//
// No hardware.

package array_pkg;

  // Ranges of parameters
  localparam int MAX_DATAPATHS = 32;
  localparam int MIN_DEPTH = 2;  // IN_DEPTH, OUT_DEPTH, and SCRATCH_DEPTH unless 0; powers of two
  localparam int MAX_DEPTH = 1 << 16;

  // Cycles; a lane's, all in all, are rounded up to a multiple of the contexts (step_pkg::latency)
  localparam int MEMORY_STAGES = 2;  // of a memory: its own register and one behind it
  localparam int COLLECT_STAGES = 2;  // from all datapaths to one place
  localparam int LOAD_STAGES = 1 + MEMORY_STAGES;  // of the load lane, the register of its index
  localparam int SHARE_STAGES = COLLECT_STAGES + 1;  // around a unit that datapaths share
  localparam int READ_LATENCY = MEMORY_STAGES + COLLECT_STAGES;  // of the output memories

  // Whether a memory may have so many words for each context
  function automatic bit is_depth(input int depth);
    return depth >= MIN_DEPTH && depth <= MAX_DEPTH && depth == 1 << step_pkg::index_w(depth);
  endfunction

  function automatic int num_systems(input int datapaths, input int contexts);
    return datapaths * contexts;
  endfunction

  // Bits of a number of systems, none to all of them
  function automatic int live_w(input int datapaths, input int contexts);
    return step_pkg::index_w(num_systems(datapaths, contexts) + 1);
  endfunction

  // Bits of the number of a datapath; one where there is only one
  function automatic int datapath_w(input int datapaths);
    return datapaths > 1 ? $clog2(datapaths) : 1;
  endfunction

  // Bits of the address of an input or output memory of so many words for each context
  function automatic int stream_address_w(input int contexts, input int stream_depth);
    return 1 + $clog2(contexts) + step_pkg::index_w(stream_depth);
  endfunction

  // Registers before and behind the units that serve so many datapaths
  function automatic int share_stages(input int datapaths);
    return datapaths > 1 ? SHARE_STAGES : 0;
  endfunction

endpackage
