"""Faults of the door: closed ports, bad certificates, endless handshakes, and a second port without a key."""

import os
import socket
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import httpx2
import openai
import pytest
from cryptography import x509
from openai import OpenAI

from engy_mock import EngyMock, MockError
from tests.doors.raw import PATIENCE, Raw
from tests.scripting.captured import PATHS, ask, asking, body_for
from tests.scripting.faults.official import HELLO, TEXT, Clients, outcome

DOORS = {
    "refused-window": "engy.refuse_connections(seconds=...)",
    "tls-expired": 'EngyMock(tls="expired")',
    "tls-wrong-host": 'EngyMock(tls="wrong-host")',
    "tls-self-signed": 'EngyMock(tls="self-signed")',
    "tls-handshake-stall": 'EngyMock(tls="handshake-stall")',
}


@pytest.mark.parametrize(("kind", "way"), DOORS.items())
def test_no_rule_can_have_them(engy, kind, way):
    """No request comes to such a door, so that the place for it is another one, which the message names."""
    with pytest.raises(MockError) as caught:
        engy.when().faults(kind)
    assert f"it concerns the door, not an answer: write {way}" in str(caught.value)


def connects(engy) -> bool:
    try:
        Raw(engy.port).leave()
    except ConnectionRefusedError:
        return False
    return True


def test_a_closed_port(engy):
    """In the block nobody can connect, behind it everybody can, at the same port; old connections go on."""
    port, request = engy.port, asking(engy, PATHS["chat"], body_for("chat", stream=False), is_kept=True)
    with Raw(port) as old:
        old.send(request)
        assert old.read_answer()[0].startswith(b"HTTP/1.1 200")
        with engy.refuse_connections():
            assert [connects(engy) for _ in range(3)] == [False] * 3
            old.send(request)
            assert old.read_answer()[0].startswith(b"HTTP/1.1 200")
        assert engy.port == port
        assert connects(engy)
        old.send(request)
        assert old.read_answer()[0].startswith(b"HTTP/1.1 200")


def test_a_port_that_opens_by_itself():
    """A client that tries again comes through once the time is over."""
    with EngyMock(time_scale=0.1) as engy:
        engy.refuse_connections(seconds=3)
        assert not connects(engy)
        end = time.monotonic() + PATIENCE
        while not connects(engy):
            assert time.monotonic() < end, "the port stayed closed"
            time.sleep(0.01)
        assert ask(engy, stream=False).status == 200


@pytest.mark.parametrize("seconds", [-1, "x", True, float("nan"), float("inf"), 10**400])
def test_seconds_that_are_none_close_nothing(engy, seconds):
    """The mistake is told before anything is closed."""
    with pytest.raises(MockError, match="seconds= takes a number from 0"):
        engy.refuse_connections(seconds=seconds)
    assert connects(engy)


def test_blocks_within_blocks(engy):
    """The port opens when the last one is left, in whatever order; a time that is over opens it no earlier."""
    with engy.refuse_connections():
        with engy.refuse_connections():
            assert not connects(engy)
        assert not connects(engy)
        engy.refuse_connections(seconds=0)
        # What is asked of the thread is done in turn: behind this one the window of no length is over.
        with engy.refuse_connections():
            assert not connects(engy)
        assert not connects(engy)
    assert connects(engy)
    first, second = engy.refuse_connections(), engy.refuse_connections()
    with second:
        with first:
            pass
        assert not connects(engy)
    assert connects(engy)


def test_a_block_from_before_a_reset_opens_nothing(engy):
    """What a reset has opened is closed anew by others only, and theirs to open."""
    old = engy.refuse_connections()
    engy.reset()
    with engy.refuse_connections():
        with old:
            pass
        assert not connects(engy)
    assert connects(engy)


def test_a_reset_opens_the_port(engy):
    """D-10: a reset gives a healthy mock."""
    engy.refuse_connections()
    engy.reset()
    assert connects(engy)


def test_a_stopped_mock_stays_stopped():
    """A block that outlives its mock does no harm."""
    engy = EngyMock().start()
    with engy.refuse_connections():
        engy.stop()
    assert not engy.is_running
    with engy.refuse_connections(), EngyMock() as other:
        assert connects(other)


def test_what_clients_make_of_a_closed_port(engy, clients, monkeypatch):
    """A connection error; who tries again gets the answer if the port is open by then."""
    engy.when().reply(TEXT)
    with engy.refuse_connections():
        for way in ("OP chat", "OP chat stream", "AP", "SG chat"):
            fresh = Clients()
            assert outcome(fresh, engy, way) == "APIConnectionError < ConnectError"
            fresh.close()
    window = engy.refuse_connections()
    monkeypatch.setattr("time.sleep", lambda _: window.__exit__(None, None, None))
    with window, OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=1) as client:
        answer = client.chat.completions.create(model="glm-5.2", messages=HELLO)
    assert answer.choices[0].message.content == TEXT


@pytest.fixture(scope="module")
def secure():
    """A mock for each kind of certificate."""
    kinds = ("valid", "expired", "wrong-host", "self-signed")
    mocks = {kind: EngyMock(tls=kind).start() for kind in kinds}
    yield mocks
    for mock in mocks.values():
        mock.stop()


def handshake(engy, context):
    """What comes of a handshake: the version, or why not."""
    with socket.create_connection(("127.0.0.1", engy.port), PATIENCE) as plain:
        try:
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
                return wrapped.version()
        except ssl.SSLCertVerificationError as error:
            return error.verify_message


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("valid", "TLSv1.3"),
        ("expired", "certificate has expired"),
        ("wrong-host", "IP address mismatch, certificate is not valid for '127.0.0.1'."),
        ("self-signed", "self-signed certificate"),
    ],
)
def test_certificates(secure, kind, verdict):
    """Each is wrong in one way only, also for who looks very closely."""
    context = ssl.create_default_context(cadata=secure[kind].authority)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    assert handshake(secure[kind], context) == verdict


def test_nobody_trusts_the_mock_by_itself(secure):
    """Its authority is nobody's."""
    assert "certificate" in handshake(secure["valid"], ssl.create_default_context())


def test_the_same_certificates_within_a_run():
    """One seed has one authority, another seed another one."""
    first, again, other = EngyMock(), EngyMock(), EngyMock(seed=1)
    assert first.authority == again.authority != other.authority
    assert first.authority.startswith("-----BEGIN CERTIFICATE-----\n")


def test_certificates_are_made_anew_in_each_run_and_live_shortly():
    """Q-28: another process has another authority under the same seed; none is valid for long."""
    code = "from engy_mock import EngyMock; print(EngyMock().authority, end='')"
    path = os.pathsep.join(sys.path)
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    here, there = (x509.load_pem_x509_certificate(text.encode()) for text in (EngyMock().authority, run.stdout))
    assert here.serial_number != there.serial_number
    assert here.public_key() != there.public_key()
    now = datetime.now(UTC)
    assert here.not_valid_before_utc < now < here.not_valid_after_utc < now + timedelta(days=31)


@pytest.mark.parametrize("kind", ["expired", "wrong-host", "self-signed"])
def test_what_clients_make_of_certificates(secure, kind):
    """A connection error, and no request in the journal."""
    engy = secure[kind]
    context = ssl.create_default_context(cadata=engy.authority)
    with (
        httpx2.Client(verify=context) as http,
        OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0, http_client=http) as client,
    ):
        with pytest.raises(openai.APIConnectionError) as caught:
            client.models.list()
        assert isinstance(caught.value.__cause__, httpx2.ConnectError)
    assert len(engy.journal) == 0


def test_answers_over_tls(secure):
    """With a certificate that is trusted all is as usual: whole answers, streams, and breaks in them."""
    engy = secure["valid"]
    engy.reset()
    assert engy.origin.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cadata=engy.authority)
    with httpx2.Client(verify=context, headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        body = body_for("chat", stream=True)
        engy.when().reply(TEXT, times=1)
        assert b"[DONE]" in client.post(f"{engy.base_url}/chat/completions", json=body).content
        for kind in ("reset", "cut"):
            engy.when().reply(TEXT, faults=[{"kind": kind, "after": 1}], times=1)
            with pytest.raises(httpx2.TransportError):
                client.post(f"{engy.base_url}/chat/completions", json=body)
        engy.when().reply(TEXT, faults=["redirect-to-http"])
        answer = client.post(f"{engy.base_url}/chat/completions", json=body)
        assert answer.headers["location"] == f"{engy.base_url}/chat/completions".replace("https", "http")
        with pytest.raises(httpx2.TransportError):  # nobody speaks plain HTTP there
            client.post(f"{engy.base_url}/chat/completions", json=body, follow_redirects=True)
    assert [entry.status for entry in engy.journal] == [200, 200, 200, 307, 307]


def test_a_handshake_that_never_ends():
    """The connection is there, and nothing comes of it; a stop ends it."""
    with EngyMock(tls="handshake-stall") as engy:
        left = Raw(engy.port)
        left.send(bytes(100))
        context = ssl.create_default_context(cadata=engy.authority)
        with socket.create_connection(("127.0.0.1", engy.port), 0.1) as plain, pytest.raises(TimeoutError):
            context.wrap_socket(plain, server_hostname="127.0.0.1")
        with (
            httpx2.Client(verify=context, timeout=0.2) as http,
            OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0, http_client=http) as client,
            pytest.raises(openai.APITimeoutError) as caught,
        ):
            client.with_options(timeout=0.2).models.list()
        assert isinstance(caught.value.__cause__, httpx2.ConnectTimeout)
    assert left.read_to_end() == (b"", "fin")
    left.leave()


def test_an_unknown_kind_of_door():
    with pytest.raises(MockError, match=r"tls= takes one of valid, .*got 'expird'. Did you mean 'expired'\?"):
        EngyMock(tls="expird")


def test_a_redirect_to_another_port(engy, clients):
    """Clients leave out `Authorization` there and are refused; other headers they keep, and are answered."""
    engy.when().reply(TEXT, faults=["redirect-drops-auth"])
    assert outcome(clients, engy, "OP chat") == "AuthenticationError"
    assert [(entry.status, len(entry.faults)) for entry in engy.journal] == [(307, 1), (401, 0)]
    assert engy.journal[0].charged_micro == 0
    seen = ask(engy, stream=False)
    location = seen.headers["location"]
    assert location.startswith("http://127.0.0.1:")
    assert location.endswith(PATHS["chat"])
    assert f":{engy.port}/" not in location
    assert outcome(clients, engy, "AP") == "AuthenticationError"
    assert outcome(clients, engy, "SG chat") == "ok"
    assert ask(engy, "messages", stream=False).headers["location"] == location.replace(
        PATHS["chat"], PATHS["messages"]
    )
    assert engy.gateway.accounts.default.held_micro == 0


async def test_one_door_only(aiohttp_client):
    """Where the mock has no port of its own there is none to redirect to, and the journal says so."""
    engy = EngyMock()
    engy.when().reply(TEXT, faults=["redirect-drops-auth"])
    client = await aiohttp_client(engy.app())
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    answer = await client.post(PATHS["chat"], json=body_for("chat", stream=False), headers=headers)
    assert answer.status == 200
    assert engy.journal.last.not_applied == ("redirect-drops-auth",)
