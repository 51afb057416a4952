"""The command `hdca`: one program for runs, sweeps, robots and what they are compiled to."""
