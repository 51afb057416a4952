"""What developers use: lint, quick checks, regressions, reports, waveforms, set-up."""
