"""From the algorithm text to programs: recording, scheduling, register allocation, counting."""
