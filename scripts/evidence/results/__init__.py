"""docs/results.md: `make results` writes it from what other commands left in build/.

Each module has some of the sections as functions that give Markdown; `sections` lists them.
"""
