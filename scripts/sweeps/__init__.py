"""Benches run over whole ranges of parameters, too long for the regression."""
