"""Other algorithms for planar mechanisms, to compare HDCA with: same scalars, same counting."""
