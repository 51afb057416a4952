// Sizes of the LDUP inverters, and the float units that they link to.
//
// The counts are those of pymodel.algorithms.linalg.inv_ldup, paper 000 (86)-(92).

package ldup_pkg;

  localparam int MIN_N = 2;
  localparam int MAX_N = 8;

  // The two inverters
  localparam bit SERIAL = 1'b0;
  localparam bit PARALLEL = 1'b1;

  // Units: one for each operation of the algorithm, or those of one elimination row
  function automatic int num_mul(input int n, input bit parallel);
    return parallel ? (n - 1) * n * (n + 1) : n;
  endfunction

  function automatic int num_add(input int n, input bit parallel);
    return parallel ? (n - 1) * (n - 1) * n : n - 1;
  endfunction

  function automatic int num_rec(input int n, input bit parallel);
    return parallel ? n : 1;
  endfunction

endpackage
