"""Whole runs and what they leave behind: trajectories, the reference, summaries, plots."""
