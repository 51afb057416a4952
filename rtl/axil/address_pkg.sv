// Word addresses of registers that have several words.
package address_pkg;

  // Position of `addr` in the registers from `first` on
  function automatic int index(input int addr, input int first);
    return addr - first;
  endfunction

  // Is `addr` one of the `words` registers from `first` on?
  function automatic logic in_range(input int addr, input int first, input int words);
    return addr >= first && addr - first < words;
  endfunction

endpackage
