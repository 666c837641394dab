"""Clients made for the inside stay there: what would lead them out is a mistake, or none of their protocols."""

import asyncio
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest

from engy_mock import EngyMock, MockError
from tests.doors.both import MANNERS

NOBODY = "http://127.0.0.1:9"
LIBRARIES = pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])


@LIBRARIES
@pytest.mark.parametrize("name", ["transport", "mounts", "proxy"])
def test_ways_out(library: Any, name: str) -> None:
    """The mistake names the option, and what to write instead."""
    engy = EngyMock()
    for way, make in (("transport", engy.http_client), ("async_transport", engy.async_http_client)):
        out: Any = library.HTTPTransport() if way == "transport" else library.AsyncHTTPTransport()
        options = {"transport": out, "mounts": {"http://": out}, "proxy": NOBODY}
        wanted = rf"{name}= would lead this client out of the process: .* {library.__name__}\..*engy\.{way}\(\)"
        with pytest.raises(MockError, match=wanted):
            make(library, **{name: options[name]})


@LIBRARIES
async def test_ways_that_stay_inside(library: Any) -> None:
    """None is no way at all, and what comes from the mock is meant."""
    engy = EngyMock()
    for options in (
        {"transport": None, "proxy": None, "mounts": None},
        {"mounts": {"http://elsewhere.test": None}},
        {"transport": engy.transport(library)},
        {"mounts": {"http://": engy.transport(library)}},
    ):
        with engy.http_client(library, **options) as client:
            assert client.get("http://localhost/v1/models").status_code == 200
    async with engy.async_http_client(library, transport=None) as client:
        assert (await client.get("/v1/models")).status_code == 200
    async with engy.async_http_client(library, transport=engy.async_transport(library)) as client:
        assert (await client.get("/v1/models")).status_code == 200
    assert len(engy.journal) == 6


@LIBRARIES
def test_ways_that_lead_elsewhere(library: Any) -> None:
    """To another mock, or into a client of another kind: the mistake says so, and what would do."""
    engy, other = EngyMock(), EngyMock()
    strange = httpx if library is httpx2 else httpx2
    for make, own, wrong, name in (
        (engy.http_client, other.transport(library), engy.async_transport(library), "transport"),
        (engy.async_http_client, other.async_transport(library), engy.transport(library), "async_transport"),
    ):
        for options in ({"transport": own}, {"mounts": {"http://": own}}):
            with pytest.raises(MockError, match="is one of another mock: leave it out"):
                make(library, **options)
        for transport in (wrong, getattr(engy, name)(strange)):
            with pytest.raises(MockError, match=rf"is not what engy\.{name}\({library.__name__}\) makes"):
                make(library, transport=transport)


@LIBRARIES
async def test_transports_in_clients_of_another_kind(library: Any) -> None:
    """Where a client of one's own is given one that it cannot use, that is said as well."""
    engy = EngyMock()
    strange = httpx if library is httpx2 else httpx2
    with library.Client(transport=engy.transport(strange)) as client:
        wanted = rf"a transport for {strange.__name__} in a client of {library.__name__}"
        with pytest.raises(MockError, match=wanted):
            client.get("http://localhost/v1/models")
    async with library.AsyncClient(transport=engy.async_transport(strange)) as client:
        with pytest.raises(MockError, match=wanted):
            await client.get("http://localhost/v1/models")
    with (
        pytest.raises(MockError, match=r"this one takes engy\.transport\(\)"),
        library.Client(transport=engy.async_transport(library)),
    ):
        raise AssertionError("it was taken")
    with pytest.raises(MockError, match=r"this one takes engy\.transport\(\)"):
        library.Client(transport=engy.async_transport(library)).get("http://localhost/v1/models")
    with pytest.raises(MockError, match=r"this one takes engy\.async_transport\(\)"):
        async with library.AsyncClient(transport=engy.transport(library)):
            pass
    with pytest.raises(MockError, match=r"this one takes engy\.async_transport\(\)"):
        await library.AsyncClient(transport=engy.transport(library)).get("http://localhost/v1/models")
    assert len(engy.journal) == 0


@LIBRARIES
@pytest.mark.parametrize("limits", [5, "5", {"max_connections": 5}], ids=repr)
def test_limits_that_are_none(library: Any, limits: Any) -> None:
    """The mistake names what they are to be."""
    engy = EngyMock()
    for make in (engy.http_client, engy.async_http_client, engy.transport, engy.async_transport):
        with pytest.raises(MockError, match=rf"limits= is a {library.__name__}\.Limits\(\.\.\.\), got .*5"):
            make(library, limits=limits)


async def test_ways_out_of_aiohttp() -> None:
    """So it is there: for a session, and for a single request."""
    engy = EngyMock()
    connector = aiohttp.TCPConnector()
    for options in ({"connector": connector}, {"proxy": NOBODY}):
        with pytest.raises(
            MockError, match=r"= would lead this client out of the process: .*aiohttp_connector\(\)"
        ):
            engy.aiohttp_session(**options)
    await connector.close()
    other = EngyMock().aiohttp_connector()
    with pytest.raises(MockError, match="connector= is one of another mock"):
        engy.aiohttp_session(connector=other)
    await other.close()
    async with engy.aiohttp_session(connector=engy.aiohttp_connector(limit=1), proxy=None) as session:
        async with session.get("/v1/models") as response:
            assert response.status == 200
        with pytest.raises(MockError, match="proxy= would lead this request out of the process"):
            await session.get("/v1/models", proxy="http://127.0.0.1:8")
    async with engy.aiohttp_session(connector=None) as session, session.get("/v1/models") as response:
        assert response.status == 200


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a proxy for everything."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://somebody:secret@127.0.0.1:9")
        monkeypatch.setenv(name.upper(), NOBODY)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("proxied")
@LIBRARIES
async def test_proxies_of_the_machine_are_not_asked(library: Any) -> None:
    """Whatever the client would make of its environment."""
    engy = EngyMock()
    with engy.http_client(library, trust_env=True) as client:
        assert client.get("https://localhost/v1/models").status_code == 200
    async with engy.async_http_client(library) as client:
        assert (await client.get("http://localhost/v1/models")).status_code == 200
    async with engy.aiohttp_session(trust_env=True) as session:
        for url in ("http://localhost/v1/models", "https://localhost/v1/models"):
            async with session.get(url) as response:
                assert response.status == 200
    assert [entry.path for entry in engy.journal] == ["/v1/models"] * 4


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("url", ["ftp://localhost/v1/models", "file:///v1/models", "//localhost/v1/models"])
def test_protocols_that_clients_do_not_speak(manner: Any, url: str) -> None:
    """The client says so itself, and nobody is asked."""
    with EngyMock() as engy:
        over_socket = _alone(manner.library, url, is_async=manner.is_async)
        inside = _alone(manner.library, url, is_async=manner.is_async, engy=engy)
        assert inside == over_socket
        assert inside[0] == "UnsupportedProtocol"
        assert len(engy.journal) == 0


def _alone(name: str, url: str, *, is_async: bool, engy: EngyMock | None = None) -> tuple[str, str]:
    """How a request fails of a client that has no base URL."""
    library: Any = {"httpx2": httpx2, "httpx": httpx}[name]

    def now() -> None:
        with library.Client(transport=engy and engy.transport(library)) as client:
            client.get(url)

    async def later() -> None:
        async with library.AsyncClient(transport=engy and engy.async_transport(library)) as client:
            await client.get(url)

    with pytest.raises(library.UnsupportedProtocol) as caught:
        asyncio.run(later()) if is_async else now()
    return type(caught.value).__name__, str(caught.value)
