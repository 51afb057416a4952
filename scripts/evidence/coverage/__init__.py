"""``make coverage``: functional coverage of all units, merged over a regression."""
