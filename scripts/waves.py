"""`make waves BENCH=<bench>`: open a waveform of the bench with the bench's layout.

The layout, ``tb/<bench>/waves.toml``, names signals and how to read them (docs/waveforms.md). Which
of them a waveform has, how wide they are and which float format they hold depends on simulator and
configuration, so GTKWave's save file and Surfer's command file are made from it each time, beside
the waveform. Standard library only.

Exit status 2, after one line, when there is nothing to open or nothing to open it with.
"""

import argparse
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from scripts import fst

ROOT = Path(__file__).resolve().parent.parent
LAYOUT = "waves.toml"
RADIXES = ("auto", "bin", "hex", "decimal", "signed", "float", "flags")
VIEWERS = ("gtkwave", "surfer")  # the first one found is used


class Problem(Exception):
    """What the user is told in one line."""


@dataclass(frozen=True)
class Trace:
    """One line of the viewer: a signal, or some of its bits."""

    name: str
    signal: fst.Signal
    radix: str
    low: int = 0
    width: int = 0

    @property
    def whole(self) -> bool:
        return self.width == self.signal.width


@dataclass
class Group:
    """Traces under a heading."""

    name: str
    closed: bool = False
    traces: list[Trace] = field(default_factory=list)


@dataclass(frozen=True)
class Wave:
    """A waveform and what its simulation was (tb/common/bench.py writes both)."""

    path: Path
    signals: dict[str, fst.Signal]
    about: dict

    @classmethod
    def read(cls, path: Path) -> "Wave":
        try:
            found = fst.signals(path)
        except fst.FstError as error:
            raise Problem(str(error)) from error
        beside = path.with_suffix(".json")
        about = json.loads(beside.read_text()) if beside.exists() else {}
        return cls(path, found, about)

    @property
    def params(self) -> dict:
        return self.about.get("params", {})

    @property
    def float_format(self) -> tuple[int, int] | None:
        """Exponent and mantissa bits, if the top level has them as parameters."""
        if {"EXP_W", "MAN_W"} <= self.params.keys():
            return self.params["EXP_W"], self.params["MAN_W"]
        return None

    @property
    def top(self) -> str:
        """The scope of the top-level module (Verilator has its ports in another one too)."""
        scopes = {path.rpartition(".")[0] for path in self.signals}
        name = self.about.get("toplevel")
        if name:
            scopes = {scope for scope in scopes if scope.split(".")[-1] == name}
        else:
            scopes = {scope for scope in scopes if scope and not scope.startswith("$")}
        if not scopes:
            raise Problem(f"{self.path} has no top level {name or ''}".rstrip())
        return min(scopes, key=lambda scope: (scope.count("."), scope))


# --- from a layout to traces --------------------------------------------------------------------


def read_layout(bench: str, toplevel: str = "", root: Path = ROOT) -> dict | None:
    """The layout of a bench, else that of the bench of its top-level module, else None."""
    for name in (bench, toplevel):
        path = root / "tb" / name / LAYOUT
        if name and path.exists():
            try:
                return tomllib.loads(path.read_text())
            except tomllib.TOMLDecodeError as error:
                raise Problem(f"{path.relative_to(root)}: {error}") from error
    return None


def expand(shapes: list[str], params: dict) -> list[str]:
    """``["xi_10[3]", "e"]`` is xi_10[0], xi_10[1], xi_10[2], e; a size may be a parameter."""
    names = []
    for shape in shapes:
        name, *sizes = re.findall(r"[^\[\]]+", shape)
        sizes = [int(params.get(size, size)) for size in sizes]
        for index in itertools.product(*map(range, sizes)):
            names.append(name + "".join(f"[{i}]" for i in index))
    return names


def arrange(layout: dict, wave: Wave) -> tuple[list[Group], list[str]]:
    """The layout's groups for a waveform, and the paths that it does not have.

    Raises:
        Problem: the layout is wrong.
    """
    groups, missing = [], []
    shapes = layout.get("words", {})
    for entry in layout.get("group", []):
        for i in range(int(entry.get("repeat", 1))):
            group = Group(entry["name"].replace("{i}", str(i)), entry.get("closed", False))
            for item in entry["signals"]:
                item = {"path": item} if isinstance(item, str) else dict(item)
                item["path"] = item["path"].replace("{i}", str(i))
                words = item.get("words")
                item["words"] = shapes[words] if isinstance(words, str) else words
                traces = _traces(item, wave)
                group.traces += traces
                missing += [] if traces else [item["path"]]
            groups.append(group)
    return [group for group in groups if group.traces], missing


def _traces(item: dict, wave: Wave) -> list[Trace]:
    path, radix = f"{wave.top}.{item['path']}", item.get("radix", "auto")
    if radix not in RADIXES:
        raise Problem(f"{item['path']}: no radix {radix!r}; there are {', '.join(RADIXES)}")
    signal = wave.signals.get(path)
    if not item["words"]:
        if not signal:
            return []
        width = signal.width
        if radix == "float" and wave.float_format:  # a float lies in the low bits of a wider word
            width = min(width, 1 + sum(wave.float_format))
        return [Trace(item.get("name", path.rpartition(".")[2]), signal, radix, 0, width)]
    names = expand(item["words"], wave.params)
    if signal:
        width, rest = divmod(signal.width, len(names))
        if rest:
            raise Problem(f"{item['path']}: {signal.width} bits are not {len(names)} words")
        return [Trace(name, signal, radix, width * i, width) for i, name in enumerate(names)]
    # Verilator splits packed arrays: word i is the signal <path>.<last name>[i]
    last = path.rpartition(".")[2]
    parts = [wave.signals.get(f"{path}.{last}[{i}]") for i in range(len(names))]
    pairs = zip(names, parts, strict=True)
    return [Trace(name, part, radix, 0, part.width) for name, part in pairs if part]


def ports(wave: Wave) -> list[Group]:
    """The layout of a bench that has none: the top level's ports, or all its signals."""
    # Verilator splits a packed array `a_i` into `a_i.a_i[0]`, `a_i.a_i[1]`, ...
    below = re.compile(re.escape(wave.top) + r"\.(?:(\w+)\.(?=\1\[))?(\w+)(\[\d+\])*")
    found = [(match, s) for path, s in wave.signals.items() if (match := below.fullmatch(path))]
    named = [(m, s) for m, s in found if re.search(r"(_i|_ni|_o)$|^[sm]_axi", m[2])]
    traces = [
        Trace(signal.path.rpartition(".")[2], signal, "auto", 0, signal.width)
        for _, signal in named or found
    ]
    return [Group(wave.top, False, traces)]


# --- GTKWave ------------------------------------------------------------------------------------

# Flags of a trace in a save file
HEX, DECIMAL, BINARY, RIGHT = 0x2, 0x4, 0x8, 0x20
BLANK, SIGNED, COLLAPSED, PROCESS = 0x200, 0x400, 0x1000, 0x4000
CLOSED, GROUP_BEGIN, GROUP_END = 0x400000, 0x800000, 0x1000000
GTKWAVE_FLAGS = {
    "bin": BINARY | RIGHT,
    "hex": HEX | RIGHT,
    "decimal": DECIMAL | RIGHT,
    "signed": DECIMAL | SIGNED | RIGHT,
    "process": HEX | PROCESS | RIGHT,
}
ZOOM = -14.1  # 2^14.1 ps are 200 pixels: a clock cycle of 10 ns is 114 wide, room for a number


def gtkwave_radix(trace: Trace) -> str:
    if trace.radix == "auto":
        return "bin" if trace.width == 1 else "hex"
    return trace.radix


def filter_arguments(radix: str, float_format: tuple[int, int] | None) -> tuple[str, ...]:
    """What scripts/wave_float.py gets to show values of this kind; () for none."""
    if radix == "flags":
        return ("flags",)
    if radix == "float" and float_format:
        return tuple(map(str, float_format))
    return ()


def filter_name(arguments: tuple[str, ...]) -> str:
    return f"./wave_{'_'.join(arguments)}.sh"


def gtkwave_name(trace: Trace) -> str:
    """The line that names a trace: a signal under another name, or some bits put together."""
    signal = trace.signal
    if trace.whole and trace.name == signal.path.rpartition(".")[2]:
        return signal.name
    if trace.whole:
        return f"+{{{trace.name}}} {signal.name}"
    bits = range(trace.low + trace.width - 1, trace.low - 1, -1)
    return " ".join(
        [f"#{{{trace.name}}}", *(f"({signal.width - 1 - b}){signal.name}" for b in bits)]
    )


def gtkwave_save(groups: list[Group], wave: Wave) -> str:
    """The text of the save file. Its filters are named relative to the waveform's folder."""
    lines = [
        f"[*] {wave.path.name}, written by scripts/waves.py",
        "[timestart] 0",
        "[size] 1600 1000",
        "[pos] -1 -1",
        f"*{ZOOM:f} 0" + " -1" * 26,
        "[sst_width] 60",
        "[signals_width] 420",
        "[sst_expanded] 0",
    ]
    for group in groups:
        closed = CLOSED if group.closed else 0
        lines += [f"@{GROUP_BEGIN | BLANK | closed:x}", f"-{group.name}"]
        for trace in group.traces:
            radix = gtkwave_radix(trace)
            arguments = filter_arguments(radix, wave.float_format)
            kind = "process" if arguments else "hex" if radix in ("float", "flags") else radix
            lines.append(f"@{GTKWAVE_FLAGS[kind]:x}")
            if arguments:
                lines.append(f"^>1 {filter_name(arguments)}")
            lines.append(gtkwave_name(trace))
        hidden = CLOSED | COLLAPSED if group.closed else 0
        lines += [f"@{GROUP_END | BLANK | hidden:x}", f"-{group.name}"]
    return "\n".join(lines) + "\n"


def filter_scripts(groups: list[Group], wave: Wave) -> dict[str, str]:
    """The filters that a save file names, as file name and text."""
    scripts = {}
    for trace in itertools.chain.from_iterable(group.traces for group in groups):
        arguments = filter_arguments(trace.radix, wave.float_format)
        if arguments:
            command = shlex.join([sys.executable, "-m", "scripts.wave_float", *arguments])
            text = f"#!/bin/sh\ncd {shlex.quote(str(ROOT))} && exec {command}\n"
            scripts[Path(filter_name(arguments)).name] = text
    return scripts


# --- Surfer -------------------------------------------------------------------------------------

# Its float formats that are ours too; its 8-bit (E4M3) one has finite numbers where ours has inf
SURFER_FLOATS = {
    (8, 23): "FP: 32-bit IEEE 754",
    (11, 52): "FP: 64-bit IEEE 754",
    (5, 10): "FP: 16-bit IEEE 754",
    (8, 7): "FP: bfloat16",
    (5, 2): "FP: 8-bit (E5M2)",
}
SURFER_FORMATS = {
    "bin": "Binary",
    "hex": "Hexadecimal",
    "decimal": "Unsigned",
    "signed": "Signed",
    "flags": "Binary",
}


def surfer_commands(groups: list[Group], wave: Wave) -> str:
    """The text of the command file. Surfer cannot cut a vector into words: it shows it whole."""
    lines, count = [], 0

    def add(command):
        nonlocal count
        lines.append(command)
        count += 1

    for group in groups:
        add(f"divider_add {re.sub(r'[^A-Za-z0-9_.]+', '_', group.name)}")
        shown = set()
        for trace in group.traces:
            path = trace.signal.path
            if path in shown:
                continue
            shown.add(path)
            add(f"variable_add {path}")
            surfer_format = SURFER_FORMATS.get(trace.radix)
            if trace.radix == "float":
                surfer_format = SURFER_FLOATS.get(wave.float_format) if trace.whole else None
                surfer_format = surfer_format or SURFER_FORMATS["hex"]
            if surfer_format:
                lines.append(f"item_focus {surfer_index(count - 1, count)}_{path}")
                lines.append(f"item_set_format {surfer_format}")
    return "\n".join([*lines, "item_unfocus"]) + "\n"


def surfer_index(index: int, count: int) -> str:
    """Surfer's number of an item: hexadecimal, as wide as the count's, with the digits a to p."""
    digits = f"{index:0{len(f'{count:x}')}x}"
    return digits.translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))


# --- the command --------------------------------------------------------------------------------


def choose(bench: str, config: str | None, file: str | None, root: Path = ROOT) -> Path:
    """The waveform to open: the newest of the bench (and configuration), or the one named."""
    folder = root / "build" / "waves" / bench
    if file:
        for path in (Path(file), root / file, folder / file):
            if path.is_file():
                return path.resolve()
        raise Problem(f"there is no {file}")
    known = sorted(path.parent.name for path in (root / "tb").glob("*/Makefile"))
    if bench not in known:
        raise Problem(f"there is no bench {bench!r}; benches: {' '.join(known)}")
    waves = sorted(folder.glob(f"{config or '*'}-*.fst"), key=lambda path: path.stat().st_mtime)
    if config:  # a name may begin with another one
        waves = [p for p in waves if re.match(rf"{re.escape(config)}-(icarus|verilator)-", p.name)]
    if not waves:
        chosen = f" CONFIG={config}" if config else ""
        raise Problem(
            f"no waveform of {bench}{chosen} yet; get one with: make {bench} WAVES=1{chosen}"
        )
    return waves[-1]


def write(wave: Wave, bench: str) -> dict[str, Path]:
    """Write the files of each viewer beside the waveform; says what the layout names in vain."""
    layout = read_layout(bench, wave.about.get("toplevel", ""))
    groups, missing = arrange(layout, wave) if layout else (ports(wave), [])
    if missing:
        print(f"waves: not in this waveform: {', '.join(missing)}")
    if not wave.about:
        print(f"waves: no {wave.path.with_suffix('.json').name}, so floats stay hexadecimal")
    for name, text in filter_scripts(groups, wave).items():
        script = wave.path.with_name(name)
        script.write_text(text)
        script.chmod(0o755)
    files = {
        "gtkwave": (wave.path.with_suffix(".gtkw"), gtkwave_save(groups, wave)),
        "surfer": (wave.path.with_suffix(".sucl"), surfer_commands(groups, wave)),
    }
    for path, text in files.values():
        path.write_text(text)
    return {viewer: path for viewer, (path, _) in files.items()}


def viewer_command(wave: Path, files: dict[str, Path]) -> list[str]:
    """The command that opens a waveform, to be run in its folder."""
    found = next((viewer for viewer in VIEWERS if shutil.which(viewer)), None)
    if found is None:
        raise Problem(
            "no waveform viewer; install GTKWave (apt-get install gtkwave, brew install gtkwave) "
            f"or Surfer (https://surfer-project.org), then open {_shown(wave)}"
        )
    needs_display = sys.platform.startswith("linux")
    if needs_display and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise Problem(
            f"no display (DISPLAY is not set): on a machine with one, open {_shown(wave)} "
            f"with {found} and {files[found].name}"
        )
    if found == "gtkwave":
        return [found, wave.name, files[found].name]
    return [found, "--command-file", files[found].name, wave.name]


def _shown(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Open a waveform of a bench with its layout.")
    parser.add_argument("bench")
    parser.add_argument("--config", help="the newest of this configuration")
    parser.add_argument("--file", help="this one")
    parser.add_argument("--no-viewer", action="store_true", help="only write the viewers' files")
    options = parser.parse_args(arguments)
    try:
        path = choose(options.bench, options.config, options.file)
        wave = Wave.read(path)
        files = write(wave, options.bench)
        print(f"waves: {_shown(path)}" + (f"   ({wave.about['rerun']})" if wave.about else ""))
        if options.no_viewer:
            return 0
        command = viewer_command(path, files)
    except Problem as problem:
        print(f"waves: {problem}", file=sys.stderr)
        return 2
    return subprocess.run(command, cwd=path.parent).returncode


if __name__ == "__main__":
    sys.exit(main())
