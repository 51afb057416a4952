// Layout of a program word of the step engine, lowest bits first (pymodel/machine/isa.py):
//
//   for each bank, for each of its read ports:  address, take what the bank is offered instead,
//                                               with several contexts: the same for all of them
//   for each bank:                              address to store at, store
//   one bit:                                    the shared bank takes the sine
//   for each operand of each lane:              bank, negate
//
//      operand_at            sine_at      store_at               read_at                     0
//   +-----+---------------+---------+-----+-----------------+-----+-------------------------+
//   | ... | negate | bank |  sine   | ... | store | address | ... | common | take | address |
//   +-----+---------------+---------+-----+-----------------+-----+-------------------------+
//
// A datapath with streams (an input and an output memory, step_array) has two lanes more, load and
// output, and above these bits:
//
//   the operand of the output lane:             bank, negate
//   the output lane:                            emit, index in the output memory
//   the load lane:                              the shared bank, the cosine's bank is offered what
//                                               it gives; index in the input memory
//   one bit each:                               the reciprocal, sine and cosine are asked for
//
//      use_at         in_index_at  load_at           out_index_at  emit_at  operand_at
//   +--------+------------+-------+--------+--------+-------------+------+---------------+
//   | sincos | reciprocal | index | cosine | shared |    index    | emit | negate | bank |
//   +--------+------------+-------+--------+--------+-------------+------+---------------+
//
// Lanes: adders, multipliers (two operands each), reciprocal, sine and cosine (one each). Banks:
// one for each adder and multiplier, one that reciprocal and sine share, one for the cosine. A bank
// has a read port on each of two sides: side 0 feeds the first operands and the reciprocal, side 1
// the second operands and sine and cosine.
//
// Counts go by the numbers of `adders` and `multipliers`, `depth` registers of a bank for each of
// so many `contexts`. Memories of a stream have `in_depth` and `out_depth` words for each context,
// both 0 without streams.
//
// A word stands for as many cycles as there are contexts. What it issues comes back in a cycle of
// the same context: where the stages of the operands and of a unit are no multiple of the contexts
// the unit gets more, as far as it can, and registers behind it.
//
// No hardware.

package step_pkg;

  localparam int SIDES = 2;
  localparam int UNARY_LANES = 2;  // reciprocal, sine and cosine; with as many banks

  // Ranges of parameters
  localparam int MAX_CONTEXTS = 16;
  localparam int MAX_READ_STAGES = 2;
  localparam int MAX_OPERAND_STAGES = 1;

  // Places of a memory of this depth, at least two. Fewer are refused by a check, which would not
  // be heard if there were none, or a width were zero: a tool stops before it.
  function automatic int places(input int depth);
    return depth > 2 ? depth : 2;
  endfunction

  // Bits of the number of one of so many places
  function automatic int index_w(input int depth);
    return $clog2(places(depth));
  endfunction

  function automatic int num_banks(input int adders, input int multipliers);
    return adders + multipliers + UNARY_LANES;
  endfunction

  function automatic int num_operands(input int adders, input int multipliers);
    return SIDES * (adders + multipliers) + UNARY_LANES;
  endfunction

  // Bits of the number of a bank
  function automatic int bank_w(input int banks);
    return $clog2(banks);
  endfunction

  // Bits of a read port
  function automatic int port_w(input int address_w, input int contexts);
    return address_w + (contexts > 1 ? 2 : 1);
  endfunction

  // Lowest bit of the address of a read port; the bits `take` and `common` follow it
  function automatic int read_at(
    input int bank, input int side, input int address_w, input int contexts
  );
    return (bank * SIDES + side) * port_w(address_w, contexts);
  endfunction

  // Lowest bit of the address that a bank stores at; the bit `store` follows it
  function automatic int store_at(
    input int bank, input int banks, input int address_w, input int contexts
  );
    return banks * SIDES * port_w(address_w, contexts) + bank * (address_w + 1);
  endfunction

  function automatic int sine_at(input int banks, input int address_w, input int contexts);
    return store_at(banks, banks, address_w, contexts);
  endfunction

  // Lowest bit of the bank of an operand; the bit `negate` follows it
  function automatic int operand_at(
    input int operand, input int banks, input int address_w, input int contexts
  );
    return sine_at(banks, address_w, contexts) + 1 + operand * (bank_w(banks) + 1);
  endfunction

  function automatic int word_w(
    input int adders, input int multipliers, input int depth, input int contexts
  );
    return operand_at(num_operands(adders, multipliers), num_banks(adders, multipliers),
                      $clog2(depth), contexts);
  endfunction

  // Of the output lane; it takes the operand behind those of the other lanes.
  function automatic int emit_at(input int banks, input int address_w, input int contexts);
    return operand_at(num_operands(banks - UNARY_LANES, 0) + 1, banks, address_w, contexts);
  endfunction

  // Bits of the number of a word of a call, in a memory of such a depth or in the scratch memory
  function automatic int number_w(input int stream_depth, input int scratch_depth);
    int depth;
    depth = stream_depth > scratch_depth ? stream_depth : scratch_depth;
    return index_w(depth);
  endfunction

  // With a scratch memory a bit that sends the output there stands between `emit` and its number.
  function automatic int out_index_at(
    input int banks, input int address_w, input int contexts, input int scratch_depth
  );
    return emit_at(banks, address_w, contexts) + (scratch_depth > 0 ? 2 : 1);
  endfunction

  // Whether the shared bank takes what the load lane gives; the same of the cosine's bank follows
  function automatic int load_at(
    input int banks, input int address_w, input int contexts, input int out_depth,
    input int scratch_depth
  );
    return out_index_at(banks, address_w, contexts, scratch_depth) +
           number_w(out_depth, scratch_depth);
  endfunction

  // With a scratch memory a bit that has the load read that one follows the number.
  function automatic int in_index_at(
    input int banks, input int address_w, input int contexts, input int out_depth,
    input int scratch_depth
  );
    return load_at(banks, address_w, contexts, out_depth, scratch_depth) + UNARY_LANES;
  endfunction

  // Whether the reciprocal is asked for; the same of sine and cosine follows
  function automatic int use_at(
    input int banks, input int address_w, input int contexts, input int in_depth,
    input int out_depth, input int scratch_depth
  );
    return in_index_at(banks, address_w, contexts, out_depth, scratch_depth) +
           number_w(in_depth, scratch_depth) + (scratch_depth > 0 ? 1 : 0);
  endfunction

  // Bits of a word with streams, or without where their depths are 0
  function automatic int stream_word_w(
    input int adders, input int multipliers, input int depth, input int contexts,
    input int in_depth, input int out_depth, input int scratch_depth
  );
    return in_depth == 0 ? word_w(adders, multipliers, depth, contexts)
         : use_at(num_banks(adders, multipliers), $clog2(depth), contexts, in_depth, out_depth,
                  scratch_depth) + UNARY_LANES;
  endfunction

  // Bits of the number of a context; one where there is only one
  function automatic int context_w(input int contexts);
    return contexts > 1 ? $clog2(contexts) : 1;
  endfunction

  // Registers between a word and a unit: at the banks, in the multiplexers, of the operand
  function automatic int ahead_stages(input int read_stages, input int operand_stages);
    return 1 + read_stages + operand_stages;
  endfunction

  // Cycles from a word to the result of a unit of `stages` stages behind `ahead` other ones
  function automatic int latency(input int stages, input int ahead, input int contexts);
    return (ahead + stages + contexts - 1) / contexts * contexts;
  endfunction

  // Stages that such a unit gets, `most` at most
  function automatic int unit_stages(
    input int stages, input int most, input int ahead, input int contexts
  );
    int room;
    room = latency(stages, ahead, contexts) - ahead;
    return stages >= most ? stages : room < most ? room : most;
  endfunction

  // Registers behind it
  function automatic int padding(
    input int stages, input int most, input int ahead, input int contexts
  );
    return latency(stages, ahead, contexts) - ahead - unit_stages(stages, most, ahead, contexts);
  endfunction

  // A location on the bus: a register's bank above its address, half a word each; the address has
  // the number of the context above that of the register. Banks have so many `addresses`.
  localparam int LOCATION_HALF_W = 16;

  function automatic logic is_location(
    input logic [2*LOCATION_HALF_W-1:0] location, input int banks, input int addresses
  );
    return 32'(location[LOCATION_HALF_W+:LOCATION_HALF_W]) < banks &&
           32'(location[0+:LOCATION_HALF_W]) < addresses;
  endfunction

  // The same address of the next bank, after the last bank the next address of bank 0
  function automatic logic [2*LOCATION_HALF_W-1:0] next_location(
    input logic [2*LOCATION_HALF_W-1:0] location, input int banks, input int addresses
  );
    logic [LOCATION_HALF_W-1:0] bank, address;
    {bank, address} = location;
    if (32'(bank) != banks - 1) begin
      bank = bank + 1'b1;
    end else begin
      bank = '0;
      address = 32'(address) == addresses - 1 ? '0 : address + 1'b1;
    end
    return {bank, address};
  endfunction

endpackage
