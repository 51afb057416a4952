"""What the hardware costs: `make synth` measures it, `make cost` makes documents of it.

Each module uses only those above it:

- errors, float_formats, devices
- job, rows; units, engine, coprocessors: what can be measured; jobs: the list of it
- tools, rtl, wrapper, counts; yosys, nextpnr: the flows; boxes, measure: a row
- source, summary: rows of earlier runs
- goals, show; synth: the command of `make synth`
- formats_result, formats_plot; formats: the first command of `make cost`
- cycles, measured, points, pareto_plot; pareto: the second
- sections; document: the third
"""
