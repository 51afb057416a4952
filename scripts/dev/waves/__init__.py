"""`make waves`: open a waveform of a bench with the bench's layout.

Each module uses only those above it:

- problem, fst: the signals of a waveform; waveform: those and what its simulation was
- layout: what tb/<bench>/waves.toml names; lines: which of it a waveform has
- failure: what was wrong in it
- filters, gtkwave, surfer: the files that the viewers read
- choose, viewer, command: `make waves`
- debug: `make debug`, a red test once more with waves
- float_filter: what GTKWave starts to show a float as a decimal
"""
