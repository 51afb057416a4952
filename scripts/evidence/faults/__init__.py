"""Fault injection: what becomes of a session with a top when one bit of a register flips."""
