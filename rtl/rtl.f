rtl/fp/fp_pkg.sv
rtl/fp/fp_check.sv
rtl/fp/fp_pipe.sv
rtl/fp/fp_round.sv
rtl/fp/fp_add.sv
rtl/fp/fp_mul.sv
rtl/fp/fp_recip.sv
rtl/fp/fp_pool.sv
