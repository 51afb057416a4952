"""Names of the pictures of a run. They are drawn by :mod:`pymodel.runs.plots`, slow to import."""

CONSERVED = "conserved"  # needs a quantity that is conserved
LOOP = "loop"  # needs loops
JOINTS, KINETIC, OVERVIEW = ALWAYS = ("joints", "kinetic_energy", "overview")

FILES = tuple(f"{kind}.png" for kind in ALWAYS)
CONSERVED_FILE, LOOP_FILE = FILES_OF_SOME = tuple(f"{kind}.png" for kind in (CONSERVED, LOOP))
