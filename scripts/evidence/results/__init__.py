"""docs/results.md: `make results` writes it from what other commands left in build/.

Each module has some of its tables as functions that give Markdown; `document` puts them in place.
"""
