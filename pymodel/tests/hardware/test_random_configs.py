"""The configurations that a bench draws from the seed of a run."""

import numpy as np
import pytest

from pymodel.hardware.configs import RandomConfigs
from tb.fp_add.bench import BENCH as FP_ADD
from tb.fp_mul.bench import BENCH as FP_MUL
from tb.fp_sincos.bench import BENCH as FP_SINCOS

FORMATS = {(exp_w, man_w) for exp_w in range(4, 12) for man_w in range(2, 53)}


def drawn(bench, seed):
    return [config.name for config in bench.chosen(seed) if config.name not in bench.configs]


def test_a_seed_draws_the_same_again():
    assert drawn(FP_ADD, 7) == drawn(FP_ADD, 7) != drawn(FP_ADD, 8)
    assert len(set(drawn(FP_ADD, 7))) == FP_ADD.random.count


def test_every_format_is_drawn_over_time():
    formats = set()
    for seed in range(1500):
        formats |= {
            (config.params["EXP_W"], config.params["MAN_W"])
            for config in FP_ADD.random.draw(np.random.default_rng(seed))
        }
    assert formats == FORMATS


def test_a_name_runs_its_configuration_whatever_the_seed():
    config = FP_ADD.config_named("random-4.20")
    assert config.name == "random-4.20"
    assert (config.params["EXP_W"], config.params["MAN_W"]) == (4, 20)
    assert config in FP_ADD.chosen(1, "random-4.20")
    assert len(FP_ADD.chosen(1, "random-4.20")) == len(FP_ADD.configs) + 1


@pytest.mark.parametrize(
    "name",
    ["random-3.20", "random-4.53", "random-4", "random-4.20.1", "random-04.20", "random-x.y"],
)
def test_names_outside_are_refused(name):
    with pytest.raises(KeyError, match=f"CONFIG={name}: must be one of binary32, "):
        FP_ADD.config_named(name)


def test_sines_have_their_own_formats():
    assert FP_SINCOS.random.named("random-8.23.18.1")
    assert not FP_SINCOS.random.named("random-9.23.18.1")
    assert not FP_SINCOS.random.named("random-8.24.18.1")


def test_given_values_stay_and_the_others_are_drawn():
    rng = np.random.default_rng(1)
    drawn = [FP_MUL.random.draw_one(rng, EXP_W=4, MAN_W=20).params for _ in range(200)]
    assert {(params["EXP_W"], params["MAN_W"]) for params in drawn} == {(4, 20)}
    assert {params["SPECIALS"] for params in drawn} == {0, 1}
    assert {params["DSP_W"] for params in drawn} == set(range(17, 54))


def test_values_that_do_not_go_together_are_left_out():
    pairs = RandomConfigs(
        {"A": range(3), "B": range(3)}, count=3, legal=lambda values: values["A"] < values["B"]
    )
    names = {config.name for config in pairs.draw(np.random.default_rng(1))}
    assert names == {"random-0.1", "random-0.2", "random-1.2"}
    assert not pairs.named("random-1.1")
