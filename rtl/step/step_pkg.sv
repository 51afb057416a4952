// Layout of a program word of the step engine, lowest bits first (pymodel/machine/isa.py):
//
//   for each bank, for each of its read ports:  address, take what the bank is offered instead
//   for each bank:                              address to store at, store
//   one bit:                                    the shared bank takes the sine
//   for each operand of each lane:              bank, negate
//
//      operand_at            sine_at      store_at               read_at            0
//   +-----+---------------+---------+-----+-----------------+-----+----------------+
//   | ... | negate | bank |  sine   | ... | store | address | ... | take | address |
//   +-----+---------------+---------+-----+-----------------+-----+----------------+
//
// Lanes: adders, multipliers (two operands each), reciprocal, sine and cosine (one each). Banks:
// one for each adder and multiplier, one that reciprocal and sine share, one for the cosine. A bank
// has a read port on each of two sides: side 0 feeds the first operands and the reciprocal, side 1
// the second operands and sine and cosine.
//
// Counts go by the numbers of `adders` and `multipliers` and `depth` registers of a bank. No
// hardware.

package step_pkg;

  localparam int SIDES = 2;
  localparam int UNARY_LANES = 2;  // reciprocal, sine and cosine; with as many banks

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

  // Lowest bit of the address of a read port; the bit `take` follows it
  function automatic int read_at(input int bank, input int side, input int address_w);
    return (bank * SIDES + side) * (address_w + 1);
  endfunction

  // Lowest bit of the address that a bank stores at; the bit `store` follows it
  function automatic int store_at(input int bank, input int banks, input int address_w);
    return (banks * SIDES + bank) * (address_w + 1);
  endfunction

  function automatic int sine_at(input int banks, input int address_w);
    return store_at(banks, banks, address_w);
  endfunction

  // Lowest bit of the bank of an operand; the bit `negate` follows it
  function automatic int operand_at(input int operand, input int banks, input int address_w);
    return sine_at(banks, address_w) + 1 + operand * (bank_w(banks) + 1);
  endfunction

  function automatic int word_w(input int adders, input int multipliers, input int depth);
    return operand_at(num_operands(adders, multipliers), num_banks(adders, multipliers),
                      $clog2(depth));
  endfunction

endpackage
