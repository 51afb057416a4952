"""Control that looks ahead: discrete steps of robots, costs, differential dynamic programming."""
