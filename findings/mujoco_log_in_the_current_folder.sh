#!/bin/sh
# mujoco 4.0.0: a warning of the library is appended to MUJOCO_LOG.TXT in the current folder.
#
# One would have guessed: loading a model writes nothing; warnings go to Python's warnings, or to
# stderr. They do go to stderr, and besides to a file that is made wherever the caller happens to
# stand. With a function of one's own, mujoco.set_mju_user_warning, it is neither printed nor written.
#
# It matters to our users: reading a robot would leave a file in their folder, and a test that lists
# its folder would find one more. So our reader takes the warnings, and tells them as notes.
#
# Source: mujoco.h, "write .. to MUJOCO_LOG.TXT", at mju_writeLog
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install mujoco==4.0.0

cat >warn.py <<'PYTHON'
from pathlib import Path

import mujoco

MODEL = "<mujoco><worldbody><body><joint/><geom size='nan'/></body></worldbody></mujoco>"
LOG = Path("MUJOCO_LOG.TXT")


def load():
    try:
        mujoco.MjSpec.from_string(MODEL).compile()
    except ValueError as error:
        print("refused:", str(error).splitlines()[0])


heard = []
mujoco.set_mju_user_warning(heard.append)
load()
assert heard and not LOG.exists()
mujoco.set_mju_user_warning(None)
load()
print(f"mujoco {mujoco.__version__}: {LOG} says", LOG.read_text().strip().splitlines()[-1])
PYTHON
venv/bin/python warn.py
