"""Mutation score: how many faults, planted in a unit's netlist, its bench finds."""
