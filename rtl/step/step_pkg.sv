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
// Lanes: adders, multipliers (two operands each), reciprocal, sine and cosine (one each). Banks:
// one for each adder and multiplier, one that reciprocal and sine share, one for the cosine. A bank
// has a read port on each of two sides: side 0 feeds the first operands and the reciprocal, side 1
// the second operands and sine and cosine.
//
// Counts go by the numbers of `adders` and `multipliers`, `depth` registers of a bank for each of
// so many `contexts`.
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
  localparam int MAX_SINCOS_STAGES = 16;

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

  // Bits of the number of a context; one where there is only one
  function automatic int context_w(input int contexts);
    return contexts > 1 ? $clog2(contexts) : 1;
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

endpackage
