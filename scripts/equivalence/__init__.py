"""Whether a module of the RTL that was changed still behaves as before, in every simulation."""
