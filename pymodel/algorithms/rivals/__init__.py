"""Other algorithms for mechanisms, to compare HDCA with: same scalars, same counting."""
