rtl/fp/fp_pkg.sv
