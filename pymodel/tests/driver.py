"""What the tests of the C driver share: an engine's constants, and hosts under the sanitizers."""

import subprocess
from pathlib import Path

from pymodel.machine.c_driver import STRICT
from pymodel.machine.isa import Machine
from pymodel.machine.program_image import identity
from pymodel.tests.places import ROOT

SW = ROOT / "sw"


def constants(machine: Machine) -> dict[str, int]:
    """Name -> word of the registers that say which engine it is."""
    config, lanes, depth = identity(machine)
    return {
        "ID": int.from_bytes(b"STEP", "big"),
        "VERSION": 0x0001_0001,
        "CONFIG": config,
        "LANES": lanes,
        "FILE_DEPTH": depth,
        "PROGRAM_DEPTH": machine.program_depth,
        "TRACE_REGISTERS": machine.trace_registers,
        "PROGRAMS": machine.programs,
    }


def sanitized(folder: Path, text: str, access: str, images: list[bytes]) -> str:
    """What a host in C prints, given these images, under the sanitizers, which find nothing.

    Parameters
    ----------
    folder
        Where it is built.
    text, access
        The host; its header of accesses.
    images
        Those whose paths it is given.
    """
    (folder / "access.h").write_text(access)
    (folder / "host.c").write_text(text)
    names = [str(folder / f"{k}.image") for k in range(len(images))]
    for name, data in zip(names, images, strict=True):
        Path(name).write_bytes(data)
    command = ["gcc", *STRICT, "-O1", "-g", '-DSTEP_ACCESS="access.h"']
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += ["-I", str(folder), "-I", str(SW), "-o", str(folder / "host")]
    command += [str(folder / "host.c"), str(SW / "step_engine.c")]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run([str(folder / "host"), *names], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout
