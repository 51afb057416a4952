"""What other readers make of the same robot file: probes, their runs, and the page."""
