"""The public names of faults: all kinds, by one import."""

import inspect
from dataclasses import fields

import engy_mock.faults as public
from engy_mock.faults import Reset
from engy_mock.scripting.fault import catalogue, made, parameter
from engy_mock.scripting.parameters import OF_ONE_KIND
from tests.scripting.captured import ask


def test_every_kind_has_a_public_name():
    """`engy_mock.faults` has the class of each kind, and nothing else."""
    named = {name: value for name, value in vars(public).items() if isinstance(value, type)}
    assert named == {kind.__name__: kind for kind in catalogue().values()}


def test_kinds_lead_to_their_classes():
    """`by_kind` has them all, by name, in order."""
    found = public.by_kind()
    assert found == dict(catalogue())
    assert list(found) == sorted(found)
    assert found["reset"] is Reset


def test_help_tells_what_a_kind_does_and_what_its_parameters_mean():
    """A signature without bounds, and a line for each parameter."""
    assert str(inspect.signature(Reset)) == "(after: int = 0, *, rate: float = 1.0)"
    assert str(inspect.signature(public.DoneVariant)).startswith("(text: str")
    told = inspect.getdoc(Reset) or ""
    assert told.startswith("Break the connection by RST after some pieces.\n\nKind `reset`.\n")
    assert "- `after`: So many pieces" in told
    assert "Kind `crlf`, for streams only." in (inspect.getdoc(public.Crlf) or "")
    for kind in catalogue().values():
        told = inspect.getdoc(kind) or ""
        for name, taken in inspect.signature(kind).parameters.items():
            (line,) = [line for line in told.splitlines() if line.startswith(f"- `{name}`: ")]
            assert line.endswith("."), line
            assert "Annotated" not in str(taken)
            assert "Limits" not in str(taken)


def test_rows_of_parameters_are_of_kinds_that_there_are():
    for kind, word in OF_ONE_KIND:
        assert word in [parameter(field.name) for field in fields(catalogue()[kind])], (kind, word)


def test_class_name_and_mapping_mean_the_same(engy):
    assert made(Reset) == made("reset") == made({"kind": "reset"}) == Reset()
    engy.when().reply("one two three", faults=[Reset(after=2)])
    assert ask(engy).ending == "reset"
    assert engy.journal.last.faults == ("reset after=2",)
