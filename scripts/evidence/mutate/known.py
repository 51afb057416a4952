"""What is known of a netlist besides its cells: states that are reached, bits that are never 1."""

import re
from collections.abc import Sequence
from pathlib import Path

from scripts.evidence.mutate.equivalence import (
    APART,
    PROVED,
    REGISTER,
    State,
    cut_names,
    keep_outputs,
    miter_of,
    rename_cut,
    split_index,
    width_of,
)
from scripts.evidence.mutate.netlist import Mutation, yosys
from scripts.kernel.modules import needed_files
from scripts.kernel.places import ROOT

RESET = "rst_ni"


def reached(
    clean: Path, module: str, control: Sequence[str], log: Path, never: Sequence[str] = ()
) -> list[State]:
    """The values that some registers take together: from zeros on, which a reset leaves.

    Inputs and all other registers take any values: not each of these states need be reached, but
    no other one is.

    Parameters
    ----------
    clean
        RTLIL of the netlist.
    module
        Its module.
    control
        The registers, or bits of them; SAT counts the steps between their values, so they should
        be of few bits.
    log
        File that Yosys' output goes to.
    never
        Bits of modules inside that are 0.

    Raises
    ------
    KeyError
        If there is no such register.
    """
    names = cut_names(clean)
    pins = [(names[f"{REGISTER}{name}"], bit) for name, bit in map(split_index, control)]
    now, after = ([f"{cut}.{end}{bit}" for cut, bit in pins] for end in "QD")
    script = f"""
        read_rtlil {clean.relative_to(ROOT)}
        cd {module}; {rename_cut(names)}; cd ..
        expose -evert {module}/c:*
        {keep_outputs([f"{cut}.D" for cut, _ in pins])}
        {_all(now + after)} {" ".join(f"-set {pin} 1'b0" for pin in never)} {module}
    """
    steps: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for model in _models(yosys(script, log)):
        before, then = (tuple(model[pin] for pin in pins) for pins in (now, after))
        steps.setdefault(before, []).append(then)
    states = [tuple("0" * len(bits) for bits in before)]
    for state in states:  # grows
        states += [then for then in steps[state] if then not in states]
    return [dict(zip(control, state, strict=True)) for state in states]


def reset_or_not(clean: Path, states: Sequence[State]) -> list[State]:
    """These states where there is no reset, and any state where there is one, if there ever is.

    Either is much less to prove than both.
    """
    if not re.search(rf"^  wire input \d+ \\{RESET}$", clean.read_text(), re.M):
        return list(states)
    return [{RESET: "0"}, *({RESET: "1"} | state for state in states)]


def reached_apart(
    clean: Path,
    module: str,
    mutation: Mutation,
    register: str,
    log: Path,
    control: Sequence[str] = (),
    never: Sequence[str] = (),
) -> list[State]:
    """The values that a register takes without and, at the same time, with a mutation.

    All else is the same in both, see :func:`reached`. If they give the same in each of these
    states, all else stays the same: a fault then only changes the order in which a counter counts.

    Parameters
    ----------
    clean, module, log
        As for :func:`reached`.
    mutation
    register
        Its value with the mutation is that of `register` with `APART` behind.
    control
        Registers, or bits of them, whose values at the same time are told, too.
    never
        As for :func:`reached`.
    """
    start = zeros_apart(clean, register, control)
    names, (_, _, *known) = cut_names(clean), start
    cut = names[f"{REGISTER}{register}"]
    pins = [(names[f"{REGISTER}{name}"], bit) for name, bit in map(split_index, known)]
    after = [f"gold_{cut}.D", f"gate_{cut}.D", *(f"gold_{pin}.D{bit}" for pin, bit in pins)]
    now = [f"in_{cut}.Q", f"in_{cut}.Q{APART}", *(f"in_{pin}.Q{bit}" for pin, bit in pins)]
    miter = log.with_suffix(".il")
    shown = [split_index(name)[0] for name in after]
    script = miter_of(clean, module, mutation, apart=register, shown=shown)
    yosys(f"{script}\nwrite_rtlil {miter.relative_to(ROOT)}\n", log)
    states = new = [tuple(start.values())]
    while new:
        script = f"read_rtlil {miter.relative_to(ROOT)}\n"
        for state in new:
            zeros = [(f"in_{pin}", "0") for pin in never]
            fixed = [*zip(now, state, strict=True), *zeros]
            given = " ".join(f"-set {pin} {len(bits)}'b{bits}" for pin, bits in fixed)
            script += f"{_all(after)} {given} miter\n"
        then = [tuple(model[pin] for pin in after) for model in _models(yosys(script, log))]
        new = [state for state in dict.fromkeys(then) if state not in states]
        states = states + new
    return [dict(zip(start, state, strict=True)) for state in states]


def zeros_apart(clean: Path, register: str, control: Sequence[str] = ()) -> State:
    """The state behind a reset: of a register, the same with a mutation, and others."""
    known = [name for name in control if split_index(name)[0] != register]
    widths = dict.fromkeys((register, f"{register}{APART}"), width_of(clean, register))
    for name, (signal, bit) in zip(known, map(split_index, known), strict=True):
        widths[name] = 1 if bit else width_of(clean, signal)
    return {name: "0" * width for name, width in widths.items()}


def _all(shown: Sequence[str]) -> str:
    """The command that finds all values that some signals take together."""
    return f"sat -all {' '.join(f'-show {name}' for name in shown)}"


def _models(said: str) -> list[dict[str, str]]:
    """Signal -> its bits, of each model that Yosys found."""
    tables = [text.split("Solving problem")[0] for text in said.split("model found:")[1:]]
    row = re.compile(r"^  \\(\S+(?: \[\d+\])?) .* ([01]+) *$", re.M)
    return [{name.replace(" ", ""): bits for name, bits in row.findall(x)} for x in tables]


def is_never_set(clean: Path, pin: str, log: Path) -> bool:
    """Whether a bit of a module inside is 0, whatever the module is given.

    Of a pipeline, as soon as what its registers began with is gone: after as many cycles as it
    takes, in which its inputs are any.

    Parameters
    ----------
    clean
        RTLIL of the netlist.
    pin
        Instance, port and bit, as `u_rec.flags_o[2]`.
    log
        File that Yosys' output goes to.
    """
    signal, bit = split_index(pin)
    instance, port = signal.rsplit(".", 1)
    of_instance = rf"^  cell \\(\S+) \\{re.escape(instance)}\n((?:    parameter .*\n)*)"
    module, lines = re.search(of_instance, clean.read_text(), re.M).groups()
    values = dict(re.findall(r"parameter \\(\S+) (\d+)", lines))
    given = "".join(f" -G {name}={value}" for name, value in values.items())
    stages = int(values.get("STAGES", 0))
    script = f"""
        read_slang -j1 --top {module}{given} {" ".join(needed_files(module))}
        prep -top {module}
        flatten
        {keep_outputs([port])}
        sat -seq {stages + 1} -prove-skip {stages} -prove {port}{bit} 0 {module}
    """
    return PROVED in yosys(script, log)
