"""The public names of faults: all kinds, by one import."""

import engy_mock.faults as public
from engy_mock.faults import Reset
from engy_mock.scripting.fault import catalogue, made
from tests.scripting.captured import ask


def test_every_kind_has_a_public_name():
    """`engy_mock.faults` has the class of each kind, and nothing else."""
    named = {name: value for name, value in vars(public).items() if isinstance(value, type)}
    assert named == {kind.__name__: kind for kind in catalogue().values()}


def test_class_name_and_mapping_mean_the_same(engy):
    assert made(Reset) == made("reset") == made({"kind": "reset"}) == Reset()
    engy.when().reply("one two three", faults=[Reset(after=2)])
    assert ask(engy).ending == "reset"
    assert engy.journal.last.faults == ("reset after=2",)
