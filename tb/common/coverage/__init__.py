"""Functional coverage: what the stimulus of the benches has met, and what it could meet.

A :class:`Point` is one question about a unit, its bins the combinations of some values. The tests
tell the scoreboard which bins they met (:meth:`pymodel.hardware.scoreboard.Scoreboard.cover`); each
simulation leaves them in a file, and ``make coverage`` merges the files
(scripts/evidence/coverage).

``float_units`` ``pivots`` ``assembly`` ``bus`` ``engine`` have the points of one kind of unit
each, and what finds the bin of a sample.
"""
