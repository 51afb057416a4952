"""Where things are: in a checkout, or installed without one.

An installed package has copies of ``rtl/``, ``sw/``, ``scenarios/`` and ``robots/`` in its folder
``data``, and writes nothing there: what simulations are built of goes to the user's cache.
"""

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
HARDWARE = PACKAGE / "hardware"
#: Whether this is a checkout of the repository.
IS_CHECKOUT = (PACKAGE.parent / "rtl" / "rtl.f").exists()
APPLICATION = "pymodel"  # the name of its folders of the user

#: The folder with ``rtl/``, ``sw/``, ``scenarios/`` and ``robots/``.
ROOT = PACKAGE.parent if IS_CHECKOUT else PACKAGE / "data"
SCENARIOS = ROOT / "scenarios"
ROBOTS = ROOT / "robots"
#: What is built, and may be removed, and the folder of tools that were fetched.
BUILD, TOOLS = ROOT / "build", ROOT / ".tools"
if not IS_CHECKOUT:
    import platformdirs  # `make doctor` runs in a checkout without packages

    _OWN = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:8]  # of this installation
    BUILD = platformdirs.user_cache_path(APPLICATION) / f"build-{_OWN}"
    TOOLS = platformdirs.user_data_path(APPLICATION)
COVERED = BUILD / "coverage" / "met"  # bins that simulations have met
RESULTS = BUILD / "results"  # the regression's result rows


def outputs() -> Path:
    """The folder for what a user keeps: ``build/`` of the checkout, or of the current folder."""
    return BUILD if IS_CHECKOUT else Path.cwd() / "build"


def shown(path: Path) -> Path:
    """A path as it is printed: relative to the checkout, or to the current folder, if inside."""
    home = ROOT if IS_CHECKOUT else Path.cwd()
    return path.relative_to(home) if path.is_relative_to(home) else path


def scenario_file(name: str) -> str:
    """The path of a scenario file: of a shipped one its name is enough, ``double_pendulum``."""
    return _shipped(name, SCENARIOS, ".toml")


def robot_file(name: str) -> str:
    """The path of a robot file: of a shipped one its name is enough, ``iiwa14``."""
    return _shipped(name, ROBOTS, ".urdf", ".xml")


def _shipped(name: str, folder: Path, *suffixes: str) -> str:
    """The file of a name without folder and suffix, unless the current folder has such a one."""
    if Path(name).name != name or Path(name).suffix or Path(name).exists():
        return name
    files = [folder / f"{name}{suffix}" for suffix in suffixes]
    return next((str(file) for file in files if file.exists()), name)
