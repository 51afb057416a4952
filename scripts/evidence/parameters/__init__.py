"""``make parameters``: which parameter values are legal, and where each is run."""
