"""The fuzzer is red for each wrong answer; it holds channels back, and looks at all at the end."""

import asyncio
import re
import subprocess
from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from pymodel.hardware.axil import CHANNELS
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.simulation import Task
from scripts.evidence.fuzz.units import UNITS
from scripts.kernel.places import ROOT
from tb.fuzz import fuzzer as fuzzers
from tb.fuzz import model as models
from tb.fuzz.fuzzer import OKAY, SLVERR, Fuzzer
from tb.fuzz.stimulus import Read, Write
from tb.fuzz.top import MASTER

pytestmark = pytest.mark.rtl_of()

UNIT = UNITS["ldup_coprocessor"]
PARAMS = UNIT.params | {"N": 2, "EXP_W": 5, "MAN_W": 10}
SEED = 1
TAIL = 10  # cycles behind a batch


class Now:
    """A trigger that has come."""

    def __await__(self):
        return iter(())


def field(word, low, width):
    return word >> low & (1 << width) - 1


class Top:
    """A top that answers as its model does, but for ``bug``, and keeps what it was asked.

    A number is that of the first batch with wrong words.
    """

    def __init__(self, time, bug):
        self.time, self.bug = time, bug
        self.model = getattr(models, UNIT.model)(PARAMS)
        self.batches = []  # of each, cycles that channels were held back for, by channel
        self.asked = []  # addresses that were read, and (address, data) that were written

    def __getattr__(self, name):
        """A port, zero at first."""
        port = SimpleNamespace(value=0)
        setattr(self, name, port)
        return port

    def run(self):
        """A batch: a read in each odd cycle, a write in each even one, until a reset."""
        base, held = self.time[0] // PERIOD_NS, Counter()
        end = self.reset_cycle_i.value if self.reset_i.value else 2 * fuzzers.OPERATIONS + 3
        writes, reads = [], []
        for i in range(max(self.writes_i.value, self.reads_i.value)):
            if i < self.reads_i.value and 2 * i + 2 < end:
                op = field(self.read_ops_i.value, 32 * i, 32)
                reads.append(self.read(op, base, 2 * i + 2))
                held.update({"ar": field(op, 12, 4), "r": field(op, 16, 4)})
            if i < self.writes_i.value and 2 * i + 3 < end:
                op = field(self.write_ops_i.value, 64 * i, 64)
                writes.append(self.write(op, base, 2 * i + 3))
                held.update({"aw": field(op, 48, 4), "w": field(op, 52, 4), "b": field(op, 56, 4)})
        self.batches.append(held)
        self.time[0] += PERIOD_NS * (end + TAIL)
        if self.reset_i.value:
            self.model.reset()
        self.written_o.value, self.read_o.value = len(writes), len(reads)
        self.write_answers_o.value = sum(word << 32 * i for i, word in enumerate(writes))
        self.read_answers_o.value = sum(word << 64 * i for i, word in enumerate(reads))
        self.done_o.value = self.start_i.value

    def read(self, op, base, stamp):
        address = field(op, 0, 12)
        self.asked.append(address)
        irq = self.interrupt(base + stamp - 1)
        okay, words = self.model.read(base + stamp - 1, address)
        wrong = self.bug == "read" and not okay
        response = OKAY if okay or wrong else SLVERR
        spoilt = self.bug == "word" or (isinstance(self.bug, int) and len(self.batches) >= self.bug)
        data = (words or (0,))[-1] ^ (spoilt and okay)
        return stamp << 40 | irq << 34 | response << 32 | data

    def write(self, op, base, stamp):
        address, data, strobes = field(op, 32, 12), field(op, 0, 32), field(op, 44, 4)
        self.asked.append((address, data))
        irq = self.interrupt(base + stamp - 1)
        okay = self.model.write(base + stamp - 1, address, data, strobes)
        return stamp << 8 | irq << 2 | (OKAY if okay and self.bug != "write" else SLVERR)

    def interrupt(self, cycle):
        raised = self.model.interrupt(cycle)
        return 0 if self.bug == "irq" else int(raised)


@pytest.fixture
def made(monkeypatch, sim_time, tmp_path):
    """A fuzzer of a top that may have a bug."""
    monkeypatch.setattr(fuzzers, "get_sim_time", lambda unit: sim_time[0])
    monkeypatch.setattr(fuzzers, "FallingEdge", lambda clock: Now())

    def make(bug=None):
        sim_time[0] = 5 * PERIOD_NS
        top = Top(sim_time, bug)
        monkeypatch.setattr(fuzzers, "ValueChange", lambda port: top.run() or Now())
        notes = str(tmp_path / "notes.jsonl")
        settings = {"model": UNIT.model}
        task = Task("fuzz", UNIT.name, "verilator", SEED, PARAMS, settings, "", notes=notes)
        return Fuzzer(top, task), top

    return make


BUGS = {
    None: None,
    "read": "read of .* differs at .*\n  got       OKAY\n  expected  SLVERR",
    "write": "write of .* differs at .*\n  got       SLVERR\n  expected  OKAY",
    "word": "read of .* differs at .*\n  got       0x.*\n  expected  0x",
    "irq": "irq_o behind a .* differs at .*\n  got       0\n  expected  1",
}


@pytest.mark.parametrize("bug", BUGS)
def test_an_answer_that_is_not_the_models_is_red(made, bug):
    fuzzer, _ = made(bug)
    said = BUGS[bug]
    with pytest.raises(AssertionError, match=said) if said else nullcontext():
        asyncio.run(fuzzer.run(2000))
    assert bool(fuzzer.counts["resets"]) == (bug is None)


def test_the_rerun_meets_the_same_mismatch(made):
    """Also where it is the last look that meets it: no other batch may come before."""
    fuzzer, top = made()
    asyncio.run(fuzzer.run(2000))
    for first in (0, len(top.batches) // 2, len(top.batches) - 1):
        count, said = 2000, []
        for _ in range(2):
            fuzzer, _ = made(bug=first)
            with pytest.raises(AssertionError) as caught:
                asyncio.run(fuzzer.run(count))
            said.append(str(caught.value))
            count = int(re.search(r"COUNT=(\d+)", said[0])[1])
        assert said[0] == said[1]


@pytest.mark.parametrize(
    ("port", "bits", "said"),
    [
        ("hung_o", 1, "hang at .*: no handshake"),
        ("extra_o", 1, "a response without a request at .*: channel B$"),
        ("extra_o", 2, "a response without a request at .*: channel R$"),
        ("unstable_o", 1, "a response that changed before it was taken at .*: channel B$"),
        ("unstable_o", 3, "a response that changed before it was taken at .*: channel B and R$"),
    ],
)
def test_what_the_master_on_the_bus_says_is_red(made, port, bits, said):
    fuzzer, top = made()
    top.handshakes_o.value = "0" * 2 * len(CHANNELS)
    getattr(top, port).value = bits
    with pytest.raises(AssertionError, match=f"(?m){said}"):
        asyncio.run(fuzzer.look())


def test_a_look_stops_what_runs_and_reads_all_that_can_be_read(made):
    fuzzer, top = made()
    asyncio.run(fuzzer.look())
    stop, *reads = top.asked
    assert stop == (fuzzer.model.map["CTRL"].offset, models.RESET)
    assert reads == list(fuzzer.model.at)
    assert fuzzer.counts["looks"] == 1


def test_channels_are_held_back_in_some_batches(made):
    fuzzer, top = made()
    asyncio.run(fuzzer.run(5000))
    held = {name for batch in top.batches for name, cycles in batch.items() if cycles}
    assert held == set(CHANNELS)
    assert any(not batch.total() for batch in top.batches if batch)


#: The fuzzer's master with one write and one read, and a bus that answers a cycle behind.
ALONE = """
module alone;
  logic clk = 0, rst_n = 0, start = 0, done, hung;
  always #5 clk = !clk;
  logic [1:0] extra, unstable;
  logic awvalid, wvalid, arvalid, bready, rready;
  logic bvalid = 0, rvalid = 0, aw = 0, w = 0;
  logic [1:0] bresp = 0, rresp = 0;
  logic [31:0] rdata = 32'h12345678;
  logic [255:0][31:0] written;
  logic [255:0][63:0] read;
  integer now = 0, aw_at, w_at, ar_at, b_waits = 0, r_waits = 0;
  reg [8*16-1:0] bug;

  axil_fuzz u_fuzz (
    .clk_i(clk), .rst_ni(rst_n), .start_i(start), .writes_i(9'd1), .reads_i(9'd1),
    .reset_i(1'b0), .reset_cycle_i(24'd0),
    .write_ops_i(16384'h%x), .read_ops_i(8192'h%x),
    .done_o(done), .rst_no(), .hung_o(hung), .extra_o(extra), .unstable_o(unstable),
    .handshakes_o(), .written_o(), .read_o(),
    .write_answers_o(written), .read_answers_o(read),
    .m_axil_awaddr(), .m_axil_awprot(), .m_axil_awvalid(awvalid), .m_axil_awready(1'b1),
    .m_axil_wdata(), .m_axil_wstrb(), .m_axil_wvalid(wvalid), .m_axil_wready(1'b1),
    .m_axil_bresp(bresp), .m_axil_bvalid(bvalid), .m_axil_bready(bready),
    .m_axil_araddr(), .m_axil_arprot(), .m_axil_arvalid(arvalid), .m_axil_arready(1'b1),
    .m_axil_rdata(rdata), .m_axil_rresp(rresp), .m_axil_rvalid(rvalid), .m_axil_rready(rready)
  );

  always @(posedge clk) begin
    now <= now + 1;
    if (awvalid) begin aw <= 1; aw_at = now; end
    if (wvalid) begin w <= 1; w_at = now; end
    if (arvalid) ar_at = now;
    if (arvalid || (bug == "r early" && now == 0)) rvalid <= bug != "r never";
    if ((aw && w) || (bug == "b early" && now == 0)) bvalid <= bug != "b never";
    if (aw && w) begin aw <= 0; w <= 0; end
    if (bvalid) begin
      if (bready) bvalid <= bug == "b stays";
      else b_waits = b_waits + 1;
      if (bug == "b falls") bvalid <= 0;
      if (bug == "bresp changes") bresp <= bresp ^ 2;
    end
    if (rvalid) begin
      if (rready) rvalid <= bug == "r stays";
      else r_waits = r_waits + 1;
      if (bug == "r falls") rvalid <= 0;
      if (bug == "rresp changes") rresp <= rresp ^ 2;
      if (bug == "rdata changes") rdata <= rdata ^ 1;
    end
  end

  initial begin
    if (!$value$plusargs("bug=%%s", bug)) bug = "";
    repeat (2) @(negedge clk);
    rst_n = 1;
    repeat (2) @(negedge clk);
    start = 1;
    now = -1;  // the master begins a cycle later
    while (done != start) @(negedge clk);
    $display("%%b %%b %%b", hung, extra, unstable);
    $display("%%0d %%0d %%0d %%0d %%0d", aw_at, w_at, b_waits, ar_at, r_waits);
    $display("%%h", read[0][31:0]);
    $finish(0);
  end
endmodule
"""
DELAYS = {"aw": 3, "w": 5, "b": 7, "ar": 2, "r": 6}


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """What the master says of a bus with a bug: lines of the simulation above."""
    folder = tmp_path_factory.mktemp("master")
    write = Write(0, 0, aw=DELAYS["aw"], w=DELAYS["w"], b=DELAYS["b"])
    read = Read(0, ar=DELAYS["ar"], r=DELAYS["r"])
    (folder / "alone.sv").write_text(ALONE % (write.packed, read.packed))
    files = (folder / "alone.sv", ROOT / MASTER)
    subprocess.run(["iverilog", "-g2012", "-o", folder / "alone", *files], check=True)

    def run(bug=""):
        words = ["vvp", "-n", folder / "alone", f"+bug={bug}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.splitlines()

    return run


def test_the_master_holds_each_channel_back_as_long_as_it_is_told(master):
    said, delays, word = master()
    assert said == "0 00 00" and word == "12345678"
    assert dict(zip(DELAYS, map(int, delays.split()), strict=True)) == DELAYS


@pytest.mark.parametrize(
    ("bug", "said"),
    [
        ("b never", "1 00 00"),
        ("r never", "1 00 00"),
        ("b early", "0 01 00"),
        ("r early", "0 10 00"),
        ("b stays", "0 01 00"),
        ("r stays", "0 10 00"),
        ("b falls", "1 00 01"),
        ("bresp changes", "0 00 01"),
        ("r falls", "1 00 10"),
        ("rresp changes", "0 00 10"),
        ("rdata changes", "0 00 10"),
    ],
)
def test_the_master_tells_what_a_bus_may_not_do(master, bug, said):
    """Whether it hangs; responses without a request, and those that change, of R and B."""
    assert master(bug)[0] == said
