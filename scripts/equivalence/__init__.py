"""Whether changed RTL behaves as before, for inputs and registers without unknown bits."""
