"""The HDCA model: float arithmetic, dynamics, reference solver and scenarios."""
