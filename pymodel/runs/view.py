"""A page that shows a scene in motion: one file, which a browser opens without a network.

MeshCat's viewer (three.js) draws, turns, zooms and plays it; its script is copied into the page out
of the package ``meshcat``, whose Python is not used: it would start a server. All that files and
users have named is data (JSON), of which the page makes text nodes, and a policy lets the browser
run the two scripts of the page by their digests and nothing else, and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.runs.input_error import InputError
from pymodel.runs.scene import BALL, BOX, CYLINDER, Line, Scene, Solid, Thing
from pymodel.runs.whole import whole_file

EXTRA = "pip install 'hdca-accelerator[view]'"
DECIMALS = 13  # of a place, m; of a quaternion
GRID = 0.5  # MeshCat's, in its units
CELLS = 5.0  # of the grid that the scene spans, about
CLOSE = 1.15  # distance of the camera, in sizes of the scene
Y_UP = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))  # three.js' axes, from z up
SEGMENTS = {BALL: {"widthSegments": 20, "heightSegments": 14}, CYLINDER: {"radialSegments": 24}}
NAMES = {
    BOX: ("BoxGeometry", ("width", "height", "depth")),
    CYLINDER: ("CylinderGeometry", ("radiusTop", "height")),
    BALL: ("SphereGeometry", ("radius",)),
}
HELP = "drag: turn; wheel: zoom; right button: move; Controls: play, pause, time, speed, parts"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:; \
style-src 'unsafe-inline'; script-src {digests}">
<title></title>
<style>
body {{ margin: 0; }}
#meshcat-pane {{ width: 100vw; height: 100vh; overflow: hidden; }}
#caption {{ position: absolute; left: 12px; top: 8px; font: 13px sans-serif; color: #222;
  pointer-events: none; max-width: 60vw; }}
#caption h1 {{ font-size: 16px; margin: 0 0 4px; }}
#caption p {{ margin: 0 0 2px; }}
</style>
</head>
<body>
<div id="meshcat-pane"></div>
<div id="caption"></div>
<script type="text/plain">
{licences}
</script>
<script id="data" type="application/json">{data}</script>
<script>{viewer}</script>
<script>{page}</script>
</body>
</html>
"""


def require_viewer() -> Path:
    """The folder of MeshCat's scripts.

    Raises
    ------
    InputError
        If it is not installed; the line says how it is.
    """
    found = find_spec("meshcat")
    for folder in (found and found.submodule_search_locations) or ():
        place = Path(folder, "viewer")
        if (place / "dist" / "main.min.js").is_file():
            return place
    raise InputError(f"--view needs MeshCat's viewer: {EXTRA}")


def write(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Write the page of a scene.

    Parameters
    ----------
    scene : Scene
    path : str or path-like
        HTML file.

    Raises
    ------
    InputError
        If MeshCat is not installed.
    OSError
        If the file cannot be written.
    """
    place = require_viewer()
    scripts = {
        "viewer": _text(place / "dist" / "main.min.js"),
        "page": _text(Path(__file__).with_suffix(".js")),
    }
    licences = (place / "LICENSE", place / "dist" / "main.min.js.LICENSE.txt")
    page = PAGE.format(
        digests=" ".join(f"'sha256-{_digest(text)}'" for text in scripts.values()),
        licences="\n".join(map(_text, licences)),
        data=as_text(data(scene)),
        **scripts,
    )
    with whole_file(path) as beside:
        beside.write_text(page, encoding="utf-8", newline="\n")


def _text(path: Path) -> str:
    """A script or licence, in which nothing ends the element that it stands in."""
    text = path.read_text(encoding="utf-8")  # with newlines as a browser digests them
    assert "</script" not in text.lower() and "<!--" not in text, f"{path} ends its element"
    return text


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def as_text(found: dict[str, Any]) -> str:
    """JSON without what a browser could take for markup."""
    text = json.dumps(found, allow_nan=False, separators=(",", ":"))  # ASCII alone
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def data(scene: Scene) -> dict[str, Any]:
    """What the page is told of a scene.

    Lengths of the grid's cells are round numbers; the scene is scaled to MeshCat's grid, and stands
    on it, or its ground does.
    """
    (low, high), size = scene.span
    cell = _round(size / CELLS)
    scale = GRID / cell
    root, axes = np.eye(4), np.eye(4)
    root[:3, :3] = scale * scene.upright
    root[2, 3] = -scale * min(low[2], 0.0)
    axes[:3, :3] = scene.upright
    axes[:3, 3] = root[:3, 3]
    centre = root[:3, 3] + scale * (low + high) / 2
    front = CLOSE * scale * size * scene.front / np.linalg.norm(scene.front)
    return {
        "title": scene.title,
        "facts": [*scene.facts, f"grid: {cell:g} m", HELP],
        "root": _numbers(root.T),
        "axes": _numbers(axes.T),
        "centre": _numbers(Y_UP @ centre),
        "eye": _numbers(Y_UP @ (centre + front)),
        "times": scene.times.tolist(),
        "stepwise": scene.stepwise,
        "things": [_thing(thing) for thing in scene.things if thing.parts],
    }


def _round(length: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten."""
    ten = 10.0 ** np.floor(np.log10(length))
    return float(
        min((x * ten for x in (1.0, 2.0, 5.0, 10.0)), key=lambda x: abs(np.log(length / x)))
    )


def _numbers(array: np.ndarray) -> list[float]:
    found: list[float] = (np.round(array, DECIMALS) + 0.0).ravel().tolist()
    return found


def _thing(thing: Thing) -> dict[str, Any]:
    """What moves as one, as three.js' JSON, and its places: one where it stays."""
    found: dict[str, Any] = {
        "name": thing.name,
        "object": _object(thing),
        "position": _numbers(_changing(thing.position)),
        "quaternion": _numbers(_changing(thing.quaternion)),
    }
    if thing.length is not None:
        ones = np.ones_like(thing.length)
        found["scale"] = _numbers(_changing(np.stack((ones, ones, thing.length), axis=-1)))
    return found


def _changing(array: np.ndarray) -> np.ndarray:
    return array if np.ptp(array, axis=0).any() else array[:1]


def _object(thing: Thing) -> dict[str, Any]:
    geometries, materials, children = [], [], []
    for k, part in enumerate(thing.parts):
        names = {"geometry": f"g{k}", "material": f"m{k}"}
        material: dict[str, Any] = {"uuid": f"m{k}", "color": int(part.colour[1:], 16)}
        child: dict[str, Any] = {"uuid": f"o{k}", **names}
        if isinstance(part, Line):
            corners = {"itemSize": 3, "type": "Float32Array", "array": _numbers(part.points)}
            attributes = {"attributes": {"position": corners}}
            geometries.append({"uuid": f"g{k}", "type": "BufferGeometry", "data": attributes})
            materials.append(material | {"type": "LineBasicMaterial"})
            children.append(child | {"type": "Line"})
            continue
        geometries.append({"uuid": f"g{k}", **_geometry(part)})
        seen = {"opacity": part.opacity, "transparent": True, "depthWrite": False}
        materials.append(
            material | {"type": "MeshPhongMaterial"} | (seen if part.opacity < 1.0 else {})
        )
        children.append(child | {"type": "Mesh", "matrix": _numbers(part.place.T)})
    return {
        "metadata": {"version": 4.5, "type": "Object"},
        "geometries": geometries,
        "materials": materials,
        "object": {"uuid": "whole", "type": "Group", "children": children},
    }


def _geometry(solid: Solid) -> dict[str, Any]:
    kind, names = NAMES[solid.kind]
    found = dict(zip(names, solid.size, strict=True))
    if solid.kind == CYLINDER:
        found["radiusBottom"] = found["radiusTop"]
    return {"type": kind, **found, **SEGMENTS.get(solid.kind, {})}
