"""A fifth of the matrix, measured again with every client; `python -m tests.matrix --check` measures all of it."""

import pytest

from engy_mock.scripting.fault import catalogue
from tests.matrix import page
from tests.matrix.columns import PACKAGES, installed
from tests.matrix.measuring import Measuring, jobs

pytestmark = pytest.mark.matrix


@pytest.fixture(scope="module")
def measuring():
    with Measuring() as measuring:
        yield measuring


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("client", PACKAGES)
def test_clients_are_as_on_the_page(measuring, client):
    """D-7: each client meets another fifth of the kinds. One of another release may do otherwise than it says."""
    text = page.PAGE.read_text("utf-8")
    if not installed(client):
        pytest.fail(f"{client} is missing: run `npm install --prefix tests/js`", pytrace=False)
    if installed(client) != page.versions(text)[client]:
        pytest.skip(f"{client} is {installed(client)} here, the page has {page.versions(text)[client]}")
    known = page.measured(text)
    kinds = sorted(catalogue())[list(PACKAGES).index(client) % 5 :: 5]
    now = measuring.settled(jobs(kinds, [client]), known)
    found = page.differences(known, now)
    assert not found, "\n".join(["run `python -m tests.matrix` and look at what has changed:", *found])
