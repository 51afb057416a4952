"""Write what is generated from the model: registers, images, the link, tables of the sine.

    python -m scripts.dev.generate

They are constants and register blocks of the RTL, C headers, and pages of the documentation.
"""

import argparse
from pathlib import Path

from pymodel.arith import sincos
from pymodel.hardware import link
from pymodel.machine import register_files
from scripts.kernel.places import ROOT


def generated_files() -> dict[str, str]:
    """Every generated file: path relative to the repository -> text."""
    return register_files.generated_files() | {
        sincos.PACKAGE: sincos.package(),
        "sw/step_link_words.h": link.c_header(register_files.GENERATED),
    }


def write(root: Path) -> None:
    """Write every generated file below a folder, and print its path."""
    for path, text in generated_files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        print(path)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    write(ROOT)
