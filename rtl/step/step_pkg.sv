// Layout of a program word of the step engine, lowest bits first (pymodel/program.py):
//
//   for each bank, for each of its read ports:  address
//   for each bank:                              address to store at, store
//   one bit:                                    the shared bank takes the sine
//   for each operand of each lane:              source, negate
//
// Lanes: adders, multipliers (two operands each), reciprocal, sin/cos (one each). Banks: one for
// each adder and multiplier, one that reciprocal and sine share, one for the cosine. Sources: all
// read ports, bank by bank, then what each bank is offered in this cycle.
//
// Counts go by the numbers of `adders` and `multipliers`, `reads` ports of a bank, `depth` registers
// of a bank. No hardware.
package step_pkg;

  function automatic int num_banks(input int adders, input int multipliers);
    return adders + multipliers + 2;
  endfunction

  function automatic int num_operands(input int adders, input int multipliers);
    return 2 * (adders + multipliers) + 2;
  endfunction

  // Bits of the number of a source
  function automatic int select_w(input int banks, input int reads);
    return $clog2(banks * (reads + 1));
  endfunction

  // Lowest bit of the address of a read port
  function automatic int read_at(input int bank, input int port, input int reads,
                                 input int address_w);
    return (bank * reads + port) * address_w;
  endfunction

  // Lowest bit of the address that a bank stores at; the bit `store` follows it
  function automatic int store_at(input int bank, input int banks, input int reads,
                                  input int address_w);
    return banks * reads * address_w + bank * (address_w + 1);
  endfunction

  function automatic int sine_at(input int banks, input int reads, input int address_w);
    return store_at(banks, banks, reads, address_w);
  endfunction

  // Lowest bit of the source of an operand; the bit `negate` follows it
  function automatic int operand_at(input int operand, input int banks, input int reads,
                                    input int address_w);
    return sine_at(banks, reads, address_w) + 1 + operand * (select_w(banks, reads) + 1);
  endfunction

  function automatic int word_w(input int adders, input int multipliers, input int reads,
                                input int depth);
    return operand_at(num_operands(adders, multipliers), num_banks(adders, multipliers), reads,
                      $clog2(depth));
  endfunction

endpackage
