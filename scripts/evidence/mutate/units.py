"""The units whose benches are judged: what is mutated, and which bench must find it."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pymodel.hardware.bench import Bench
from scripts.evidence.mutate.errors import MutateError

FLOAT_GOAL, CONTROL_GOAL = 97.0, 95.0  # % of the mutants that are not equivalent


@dataclass(frozen=True)
class Unit:
    """A module under mutation.

    Attributes
    ----------
    name
        As the user calls it.
    module
        Its module, which mutated netlists take the place of.
    bench, config
        Names: of the bench that must find the mutants, and of the configuration that it runs.
    variants
        Parameters of the module besides those of the configuration, one mapping a netlist.
    lanes
        The bench's top level is fp_lanes: the module is mutated without stages, its results then
        delayed by as many clocks as the lane asks for.
    boxes
        Modules below it that stay as they are.
    control
        Registers of few bits that tell the steps of the module apart, or bits of a register: SAT
        compares in the steps that are reached.
    never
        Bits of modules inside that are never 1, as SAT has to prove of these modules first.
    before
        Registers whose values are those that they were given in a cycle before, where SAT finds no
        proof for any values.
    apart
        Counters that may go through other values with a fault, in the same number of steps, or
        registers that may hold others where nobody looks -> registers of few bits that tell when
        that is, besides `control`.
    all_inputs
        Each input is tried where SAT finds no proof: all that comes in is of few bits.
    argued
        Part of a mutation's text -> why it is equivalent where SAT, which takes every state and
        any answer of the boxes for possible, sees a difference.
    goal
        Share of the mutants that are not equivalent which must be killed, in %.
    """

    name: str
    module: str
    bench: str
    config: str
    variants: tuple[dict[str, int], ...] = ({},)
    lanes: bool = False
    boxes: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    apart: dict[str, tuple[str, ...]] = field(default_factory=dict)
    all_inputs: bool = False
    argued: dict[str, str] = field(default_factory=dict)
    goal: float = FLOAT_GOAL

    @property
    def told(self) -> list[str]:
        """What the proofs are told."""
        all_inputs = ["all_inputs"] if self.all_inputs else []
        apart = [name for counter, when in self.apart.items() for name in (counter, *when)]
        return [*self.control, *self.never, *self.before, *apart, *all_inputs]

    def shared_bench(self) -> Bench:
        """The bench that all share, with its tests."""
        importlib.import_module(f"tb.{self.bench}.test_{self.bench}")
        return importlib.import_module(f"tb.{self.bench}.bench").BENCH

    @property
    def shows(self) -> tuple[str, ...]:
        """Nets of one bit in the module that the bench reads; nothing below is there any more."""
        device = self.shared_bench().device
        if device.toplevel != self.module:
            return ()
        return tuple(name for name in device.signals if "." not in name)

    def parameters(self, known: Sequence[str]) -> list[dict[str, Any]]:
        """Parameters of the module, one mapping a variant.

        Parameters
        ----------
        known
            Names of the module's parameters.
        """
        given = self.shared_bench().configs[self.config].params
        given = {name: value for name, value in given.items() if name in known}
        given |= {"STAGES": 0} if self.lanes else {}
        return [given | variant for variant in self.variants]


def _float_unit(name: str, *variants: dict[str, int]) -> Unit:
    return Unit(name, name, name, "binary32", variants or ({},), lanes=True)


FLOAT_BOXES = ("fp_units", "fp_add", "fp_mul", "fp_recip", "fp_sincos")
MEMORIES = ("step_bank", "step_program", "step_trace")
#: Three registers hold the same and two of them decide: no fault in one can be seen on a bus. That
#: each flip is made good is what `make faults` looks at.
VOTED = "axil_held"
OVERFLOW = "flags_o[2]"  # of a reciprocal
INVALID = "flags_o[4]"  # of a reciprocal
DIVISION = "flags_o[3]"  # by zero, of an adder or a multiplier
NO_OPTION = "the bit of an option that does not exist: reset clears it, writes are masked"
IDLE_OPERAND = "an operand while the units are idle: no result of it is stored"
TWO_ENTRIES = "at most two entries are traced here; what is left is only compared with two"

UNITS = {
    unit.name: unit
    for unit in (
        _float_unit("fp_add"),
        _float_unit("fp_mul"),
        _float_unit("fp_recip", {"METHOD": 0}, {"METHOD": 1}),
        Unit("fp_sincos", "fp_sincos", "fp_sincos", "binary32", lanes=True, all_inputs=True),
        Unit(
            "ldup_parallel",
            "ldup_engine",
            "inv_ldup",
            "parallel-4",
            boxes=FLOAT_BOXES,
            never=(
                *(f"gen_rec[{i}].u_rec.{OVERFLOW}" for i in range(4)),
                *(f"{units}.{DIVISION}" for units in ("u_mul", "u_add")),
            ),
            control=tuple(f"gen_parallel.u_inverter.{name}" for name in ("busy_q", "count_q")),
            apart={"gen_parallel.u_inverter.count_q": ()},
            argued={
                f"gen_rec[{i}].u_rec.{INVALID}": "only a signalling NaN makes a reciprocal "
                "invalid, and what an adder gives is none"
                for i in range(1, 4)
            },
        ),
        Unit(
            "ldup_serial",
            "ldup_engine",
            "inv_ldup",
            "serial-4-pipelined",
            boxes=FLOAT_BOXES,
            control=tuple(f"gen_serial.u_inverter.{name}" for name in ("step_q", "i_q", "j_q")),
            argued={
                "inv_ldup_serial.sv:254 const1 $procmux$105.A[17]": "a term that is left out is a "
                "negative subnormal number, which an adder takes for minus zero, as it should be",
                "inv_ldup_serial.sv:104 cnot1 by bit 5 $21.A": "no step lasts for 32 cycles here",
                "inv_ldup_serial.sv:315 inv $procmux$1374.Y[287]": "a sign turned in every step: "
                "an even number of them lies between any two that use it",
            },
        ),
        Unit(
            "hdca_engine",
            "hdca_engine",
            "hdca_engine",
            "pipelined",
            boxes=FLOAT_BOXES,
            never=(f"u_rec.{OVERFLOW}", f"u_dis_add.{DIVISION}", f"u_dis_mul.{DIVISION}"),
            control=(f"u_disassembly.{DIVISION}",),
            apart={
                "u_disassembly.count_q": ("u_disassembly.busy_q",),
                "u_assembly.count_q": ("u_assembly.in_pass_1_q", "u_assembly.in_pass_2_q"),
            },
            argued={
                "const0 $driver$u_assembly.count_q.Q[5]": "no pass lasts for 32 cycles here",
                "hdca_disassembly.sv:100 const1 $415.A": IDLE_OPERAND,
                "hdca_assembly.sv:376 const1 $286.A": IDLE_OPERAND,
                "inv_adjugate_2x2.sv:53 const1 $67.A": "the reciprocal of a determinant of zero is "
                "infinite, and then no entry of the inverse is finite",
            },
        ),
        Unit(
            "axil_slave",
            "axil_slave",
            "hdca_coprocessor",
            "pipelined",
            variants=({"ADDR_W": 12, "SETUP": 0},),
            boxes=(VOTED,),
            control=("rresp_q", "bresp_q"),  # OKAY or SLVERR, from the first access on
            goal=CONTROL_GOAL,
        ),
        Unit(
            "hdca_coprocessor",
            "hdca_coprocessor",
            "hdca_coprocessor",
            "pipelined",
            boxes=("hdca_engine", VOTED),
            control=("u_control.options_q[31]",),  # of an option that does not exist
            argued={
                "cnot1 by bit 4 $driver$u_control.options_q.Q": NO_OPTION,
                "cnot1 by bit 512 u_engine.body_a_i[832]": "no assembly reads this word, "
                "xi_22[2][2] of body A",
                "cnot0 by bit 804 u_engine.body_a_i[206]": "no assembly reads this word, "
                "xi_11[2][0] of body A: below the diagonal",
            },
            goal=CONTROL_GOAL,
        ),
        Unit(
            "step_engine",
            "step_engine",
            "step_engine",
            "least-half",
            boxes=(*FLOAT_BOXES, *MEMORIES, VOTED),
            # A write hits what stood there a cycle before: an address stands until it is done. One
            # register at most is read at a time.
            before=(
                "u_control.u_axil.gen_set_up.write_q",
                "u_control.u_axil.write_addr_q",
                "u_registers.write_hit_q",
                "u_registers.read_at_q",
            ),
            argued={
                "const0 $driver$u_sequencer.entries_left_q.Q[0]": TWO_ENTRIES,
                "cnot1 by bit 0 $driver$u_sequencer.entries_left_q.Q[1]": TWO_ENTRIES,
            },
            goal=CONTROL_GOAL,
        ),
        Unit(
            "step_array",
            "step_array",
            "step_array",
            "two-of-2-half",
            boxes=(*FLOAT_BOXES, "step_bank", "array_program", VOTED),
            before=("u_registers.read_at_q",),  # one register at most is read at a time
            apart={"u_drain.some_place_q": ("u_drain.full_q",)},
            argued={
                "cnot1 by bit 2 $auto$bwmuxmap.cc:60:execute$1565.Y[1]": "a count is lost when the "
                "other half closes: by then the batch of this half has been taken",
                "cnot1 by bit 3 $2008.B[1]": "only where a multiplier divides by zero: it never "
                "does",
                "inv $driver$u_sequencer.fetched_item_q.Q[6]": "turned back in each cycle that it "
                "is kept: only of the first words of a run, which store nothing, not kept for one",
            },
            goal=CONTROL_GOAL,
        ),
    )
}


def chosen(names: Sequence[str]) -> list[Unit]:
    """Units by their names; all of them for none.

    Raises
    ------
    MutateError
        If there is no such unit.
    """
    for name in names:
        if name not in UNITS:
            raise MutateError(f"no unit {name}; units: {', '.join(UNITS)}")
    return [UNITS[name] for name in names or UNITS]
