"""What the hardware costs: `make synth` measures it, `make cost` makes documents of it.

Each module uses only those above it:

- job: one measurement, and its row; jobs: the list of them; counts: what tools say; goals
- yosys, nextpnr: the flows; measure: a row, whether it is that of today
- synth: the command of `make synth`
- formats: the first command of `make cost`; points, pareto: the second; document: the third
"""
