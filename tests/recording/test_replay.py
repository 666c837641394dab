"""A cassette is played: the same bytes to the same requests, and faults on top."""

import json
from contextlib import suppress

import httpx2
import openai
import pytest
from anthropic import Anthropic
from multidict import CIMultiDict
from openai import OpenAI

from engy_mock import EngyMock, MockError, UnmetExpectation
from engy_mock.recording.replay import player
from engy_mock.vocabulary.wire import Call
from tests.doors.raw import Raw, request
from tests.recording.conftest import recorders
from tests.recording.test_record import CHAT, POSTS, post


@pytest.fixture(scope="session")
def _recorded(tmp_path_factory):
    with EngyMock() as engy, recorders(tmp_path_factory.mktemp("recorded")) as start:
        recorder = start(engy.base_url)
        heard = [(case, post(recorder, *POSTS[case])) for case in (*POSTS, *POSTS)]
        return recorder.tape.path, heard


@pytest.fixture
def played(_recorded, tmp_path):
    """All kinds of requests, recorded twice: a path, and what the client got."""
    path, heard = _recorded
    own = tmp_path / "recorded.yaml"
    own.write_bytes(path.read_bytes())
    return own, heard


class Address:
    """What `post` needs to know of a mock."""

    def __init__(self, engy):
        self.origin = engy.origin


def test_strict_gives_the_same_bytes(played, engy_factory):
    """Equal requests get their answers in the order in which they came, with status, headers and bytes."""
    path, heard = played
    engy = engy_factory(cassette=path)
    for case, before in heard:
        again = post(Address(engy), *POSTS[case])
        assert (again.status_code, again.content) == (before.status_code, before.content), case
        for name in ("content-type", "x-engy-request-id"):
            assert again.headers[name] == before.headers[name]
    assert [entry.charged_micro for entry in engy.journal] == [0] * len(heard)
    assert engy.journal[1].text == "The capital of France is Paris."
    assert engy.journal[1].usage is not None
    assert "exchange 2" in str(engy.journal[1].rule)
    engy.reset()
    assert post(Address(engy), *POSTS["chat"]).content == heard[0][1].content


def test_any_key_and_order_of_fields_will_do(played, engy_factory):
    """A body is the same however it is written, and a replay opens no account."""
    path, heard = played
    engy = engy_factory(cassette=path)
    body = b'{"messages": [{"content":"What is the capital of France?","role":"user"}], "model": "glm-5.2"}'
    with httpx2.Client(trust_env=False) as client:
        answer = client.post(f"{engy.base_url}/chat/completions", content=body)
    assert answer.content == heard[0][1].content


NEAREST = """
---
engy_mock_cassette: 1
...
"""
ASKED = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Two?"}], "temperature": 0.5}


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (['text: "{"', "json: [1]", "json: {}"], "differs in temperature: recorded nothing, asked 0.5"),
        (["json: {model: glm-5.2, messages: {}, temperature: 0.5}"], "differs in temperature"),
        (["json: {model: glm-5.2, temperature: 0.5}"], "differs in temperature"),
        (["json: {model: glm-5.2, messages: [{role: user, content: One?}], temperature: 0.5}"], "in temperature"),
        (
            ["json: {model: glm-5.2, messages: [{role: user, content: Two?}], temperature: 1, n: 2}"],
            "in temperature",
        ),
    ],
)
def test_the_nearest_exchange_is_the_one_with_least_to_change(tmp_path, others, said):
    """A body that is none has one thing wrong with it, and yet everything (Q-46)."""
    bodies = [*others, "json: {model: glm-5.2, messages: [{role: user, content: Two?}]}"]
    text = NEAREST
    for number, body in enumerate(bodies, 1):
        request = f"{{method: POST, path: /v1/chat/completions, body: {{{body}}}}}"
        text += f"---\nexchange: {number}\nrequest: {request}\nanswer: {{status: 200}}\n...\n"
    (tmp_path / "near.yaml").write_text(text, encoding="utf-8")
    call = Call(method="POST", path="/v1/chat/completions", headers=CIMultiDict(), body=json.dumps(ASKED).encode())
    with pytest.raises(UnmetExpectation, match=f"the nearest is exchange {len(bodies)}, which .*{said}"):
        player(tmp_path / "near.yaml").answer(call)


def test_an_unknown_request_names_the_nearest_exchange(played, caplog):
    """Strict says which exchange was nearest, and what differs: to test, client and log (Q-46)."""
    path, _ = played
    engy = EngyMock(cassette=str(path))
    with engy:
        question = [{"role": "user", "content": "What is the capital of Spain?"}]
        answer = post(Address(engy), "/v1/chat/completions", {**CHAT, "messages": question})
        assert answer.status_code == 500
        (defect,) = engy.gateway.defects
        assert isinstance(defect, UnmetExpectation)
        assert "the nearest is exchange 1, which differs in messages[0].content: recorded" in str(defect)
        assert "France" in str(defect)
        assert "Spain" in str(defect)
        assert answer.json()["error"]["message"] == str(defect)
        assert answer.headers["x-engy-mock-bug"] == "1"
        (told,) = caplog.records
        assert (told.levelname, told.getMessage(), told.exc_info) == ("ERROR", str(defect), None)
        assert str(path.parent) not in answer.text
        post(Address(engy), "/v1/embeddings", CHAT)
        assert "path: recorded" in str(engy.gateway.defects[1])


def test_one_time_more_than_recorded(played):
    """Strict plays each exchange once."""
    path, _ = played
    strict = player(path)
    call = Call(method="GET", path="/v1/models", headers={})
    with pytest.raises(UnmetExpectation, match="GET /v1/models was never recorded"):
        strict.answer(call)
    body = b'{"model":"glm-5.2","messages":[{"role":"user","content":"What is the capital of France?"}]}'
    call = Call(method="POST", path="/v1/chat/completions", headers={}, body=body)
    assert strict.answer(call) is not None
    copy = strict.copy()
    assert strict.answer(call) is not None
    for one in (strict, copy):
        if one is copy:
            assert one.answer(call) is not None
        with pytest.raises(UnmetExpectation, match="was recorded 2 times, and this is one more"):
            one.answer(call)
    strict.rewind()
    assert strict.answer(call) is not None


def test_lenient_takes_what_is_alike_and_leaves_the_rest_to_the_model(played, engy_factory):
    """The same model and last question are enough, as often as wanted; all else is answered by the mock."""
    path, heard = played
    engy = engy_factory(cassette=path, replay="lenient")
    alike = {
        **CHAT,
        "temperature": 0.1,
        "messages": [{"role": "system", "content": "Be brief."}, *CHAT["messages"]],
    }
    bodies = [post(Address(engy), "/v1/chat/completions", alike).content for _ in range(4)]
    assert bodies[0] == heard[0][1].content
    assert bodies[1] == bodies[2] == bodies[3] == heard[len(POSTS)][1].content
    with OpenAI(base_url=engy.base_url, api_key=engy.api_key) as client:
        other = client.chat.completions.create(
            model="kimi-k3", messages=[{"role": "user", "content": "What is the capital of Japan?"}]
        )
    assert other.choices[0].message.content == "The capital of Japan is Tokyo."
    assert len(list(engy.journal)) == 5


def test_rules_stand_before_a_cassette(played, engy_factory):
    """A rule with an answer gives it; the exchange is left for later."""
    path, heard = played
    engy = engy_factory(cassette=path)
    engy.when(says="France").reply("No.", times=1)
    with OpenAI(base_url=engy.base_url, api_key=engy.api_key) as client:
        assert client.chat.completions.create(**CHAT).choices[0].message.content == "No."
    assert post(Address(engy), *POSTS["chat"]).content == heard[0][1].content


def asked(engy):
    """The answer to a chat that is never the service's own refusal."""
    return post(Address(engy), *POSTS["chat"], authorization=f"Bearer {engy.api_key}")


def is_of_rule(answer):
    """Whether it is a refusal, or says "x"."""
    return answer.status_code != 200 or answer.json()["choices"][0]["message"]["content"] == "x"


@pytest.mark.parametrize("manner", ["strict", "lenient"])
@pytest.mark.parametrize(
    ("write", "statuses"),
    [
        (lambda engy: engy.when(at=[2]).refuse(400), [200, 400, 200]),
        (lambda engy: engy.when(at=[2]).reply("x"), [200, 200, 200]),
        (lambda engy: engy.when().refuse(400, rate=1e-9), [200, 200]),
        (lambda engy: engy.when().refuse(400, rate=0), [200, 200]),
        (lambda engy: engy.when(says="France", at=[1, 3]).refuse(400, times=1), [400, 200, 200]),
    ],
)
def test_a_rule_that_does_not_fire_hides_nothing(played, engy_factory, manner, write, statuses):
    """Where `at` or `rate` spares a request, it gets what was recorded, as with no rule."""
    path, heard = played
    engy = engy_factory(cassette=path, replay=manner)
    write(engy)
    answers = [asked(engy) for _ in statuses]
    assert [answer.status_code for answer in answers] == statuses
    recorded = [answer.content for name, answer in heard if name == "chat"]
    assert [answer.content for answer in answers if not is_of_rule(answer)] == recorded


def test_a_rate_takes_its_share_and_leaves_the_rest_to_the_cassette(played, engy_factory):
    """The same requests meet the rule with a cassette as without."""
    path, _ = played
    met = []
    for words in ({"cassette": path, "replay": "lenient"}, {}):
        engy = engy_factory(**words)
        engy.when().refuse(400, rate=0.3)
        met.append([asked(engy).status_code for _ in range(12)])
    assert met[0] == met[1]
    assert {200, 400} == set(met[0])


def pieces(client):
    stream = client.chat.completions.create(**CHAT, stream=True)
    return [choice.delta.content for chunk in stream for choice in chunk.choices if choice.delta.content]


def test_a_fault_mars_a_replayed_stream(played, engy_factory):
    """The pieces before the break are the recorded bytes."""
    path, heard = played
    engy = engy_factory(cassette=path)
    engy.when(says="France").faults({"kind": "cut", "after": 4}, times=1)
    with Raw(engy.port) as raw:
        raw.send(request("/v1/chat/completions", json.dumps(POSTS["chat stream"][1]).encode()))
        raw.read_until(b"\r\n\r\n")
        got, ending = raw.read_to_end()
    assert ending == "fin"
    events = b"".join([part for part in got.split(b"\r\n") if part.startswith(b"data: ")])
    assert heard[1][1].content.startswith(events)
    assert events.count(b"data: ") == 5
    assert engy.journal.last.faults == ("cut after=4",)
    with OpenAI(base_url=engy.base_url, api_key="any", max_retries=0) as client:
        assert "".join(pieces(client)) == "The capital of France is Paris."


@pytest.mark.parametrize("case", ["chat stream", "messages stream", "responses stream"])
def test_faults_of_the_wire_keep_the_events(played, engy_factory, case):
    """Other line ends, the same events."""
    path, heard = played
    engy = engy_factory(cassette=path)
    engy.when().faults("crlf")
    before = dict(heard[: len(POSTS)])[case].content
    assert post(Address(engy), *POSTS[case]).content == before.replace(b"\n", b"\r\n")
    assert engy.journal.last.faults == ("crlf",)


def test_faults_of_whole_answers_and_refusals(played, engy_factory):
    """A whole answer is changed by what changes whole answers; a page by what refuses it."""
    path, heard = played
    engy = engy_factory(cassette=path)
    engy.when(endpoint="chat", stream=False).faults({"kind": "cut", "after": 3}, times=1)
    engy.when(endpoint="count_tokens").faults("html-error", times=1)
    with Raw(engy.port) as raw:
        raw.send(request("/v1/chat/completions", json.dumps(CHAT).encode()))
        raw.read_until(b"\r\n\r\n")
        marred, _ = raw.read_to_end()
    assert 0 < len(marred) < len(heard[0][1].content)
    assert heard[0][1].content.startswith(marred)
    assert engy.journal.last.faults == ("cut after=3",)
    engy.when(endpoint="completions").faults("200-choices-missing", times=1)
    before = heard[2][1].json()
    del before["choices"]
    assert post(Address(engy), *POSTS["completions"]).json() == before
    page = post(Address(engy), *POSTS["count_tokens"])
    assert page.status_code >= 500
    assert "html" in page.headers["content-type"]


KEPT_BACK = (
    {"kind": "html-error", "status": 502},
    {"kind": "empty-error", "status": 503},
    "reset-before-headers",
    "200-html",
    "200-empty",
)


@pytest.mark.parametrize(
    ("kind", "case", "comes_again"),
    [
        *[(kind, case, True) for kind in KEPT_BACK for case in ("chat", "chat stream")],
        *[({"kind": kind, "after": 2}, "chat stream", True) for kind in ("cut", "reset", "truncate", "fail")],
        ("no-done", "chat stream", False),
        ("crlf", "responses stream", False),
        ("usage-missing", "chat", False),
        ("html-error", "refusal", True),
    ],
)
def test_what_a_fault_keeps_from_the_client_is_not_used_up(played, engy_factory, kind, case, comes_again):
    """Who asks again gets the same exchange if the answer did not come to its end, and else the next one."""
    path, heard = played
    engy = engy_factory(cassette=path)
    engy.when().faults(kind, times=1)
    with suppress(httpx2.TransportError):
        post(Address(engy), *POSTS[case])
    assert engy.journal.last.faults
    both = [answer.headers["x-engy-request-id"] for name, answer in heard if name == case]
    left = both if comes_again else both[1:]
    assert [post(Address(engy), *POSTS[case]).headers["x-engy-request-id"] for _ in left] == left


UNREADABLE = (
    "gzip-corrupt",
    "gzip-truncated",
    "double-content-encoding",
    "content-length-long",
    "content-length-short",
    "200-html-as-json",
)


def test_what_cannot_be_read_is_not_used_up(played, engy_factory):
    """All of it may be on the wire: as long as nobody can read it, whoever asks again gets it."""
    path, heard = played
    engy = engy_factory(cassette=path)
    for kind in UNREADABLE:
        engy.reset()
        engy.when().faults(kind, times=1)
        with suppress(httpx2.RequestError):
            post(Address(engy), *POSTS["chat"])
        assert engy.journal.last.faults, kind
        assert post(Address(engy), *POSTS["chat"]).content == heard[0][1].content, kind


def test_breaks_are_played_as_breaks(service, recorder, engy_factory):
    """A stream that was reset is reset again, behind the same pieces."""
    service.when(stream=True).reply("one two three", faults=[{"kind": "reset", "after": 2}])
    with (
        OpenAI(base_url=recorder.base_url, api_key="any", max_retries=0) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        pieces(client)
    engy = engy_factory(cassette=recorder.tape.path)
    with OpenAI(base_url=engy.base_url, api_key="any", max_retries=0) as client:
        heard: list[str | None] = []
        stream = client.chat.completions.create(**CHAT, stream=True)
        told = (choice.delta.content for chunk in stream for choice in chunk.choices if choice.delta.content)
        with pytest.raises(openai.APIConnectionError):
            heard.extend(told)
    assert heard == ["one", " two"]


def test_official_clients_and_no_socket(played):
    """Clients inside the process are told the same."""
    path, _ = played
    engy = EngyMock(cassette=path)
    with OpenAI(base_url="http://localhost/v1", api_key="any", http_client=engy.http_client()) as client:
        assert (
            client.chat.completions.create(**CHAT).choices[0].message.content == "The capital of France is Paris."
        )
    with Anthropic(base_url="http://localhost", api_key="any", http_client=engy.http_client()) as client:
        assert client.messages.create(**CHAT, max_tokens=50).content[-1].text == "The capital of France is Paris."


def test_time_is_as_it_was_recorded(played):
    """Pauses between events are those of the recording, on the mock's own clock, which need not wait for them."""
    from engy_mock.gateway.rehearsal import rehearse
    from engy_mock.vocabulary import json
    from engy_mock.vocabulary.wire import Wait

    path, _ = played
    text = path.read_text(encoding="utf-8")
    times = iter(range(10, 100_000, 10))
    lines = [
        f"{line.partition(':')[0]}: {next(times)}" if line.lstrip(" -").startswith("at: ") else line
        for line in text.split("\n")
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    engy = EngyMock(cassette=path)
    body = json.write(POSTS["chat stream"][1])
    call = Call(method="POST", path="/v1/chat/completions", headers={}, body=body)
    _, steps = rehearse(engy.gateway, call)
    waits = [step.seconds for step in steps if isinstance(step, Wait)]
    assert len(waits) > 5
    assert waits[1:] == pytest.approx([0.01] * (len(waits) - 1))
    _, again = rehearse(engy.gateway, call)
    assert again == steps  # a rehearsal uses nothing up


def test_what_a_cassette_cannot_be(tmp_path):
    """Mistakes of the test's author are told when the mock is made."""
    with pytest.raises(MockError, match=r"none\.yaml"):
        EngyMock(cassette=tmp_path / "none.yaml")
    with pytest.raises(MockError, match="strict or lenient, not 'loose'"):
        EngyMock(cassette=tmp_path / "none.yaml", replay="loose")  # type: ignore[arg-type]
    with pytest.raises(MockError, match="takes the path of a file"):
        EngyMock(cassette=7)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_marker(played, pytester):
    """A test names its cassette, seen from its own folder."""
    path, _ = played
    folder = pytester.mkdir("cassettes")
    (folder / "france.yaml").write_bytes(path.read_bytes())
    pytester.makepyfile(
        """
        import pytest
        from openai import OpenAI

        HELLO = [{"role": "user", "content": "What is the capital of France?"}]

        @pytest.mark.engy(cassette="cassettes/france.yaml")
        def test_played(engy):
            with OpenAI() as client:
                client.chat.completions.create(model="glm-5.2", messages=HELLO)
            assert "exchange 1" in engy.journal.last.rule

        @pytest.mark.engy(cassette="cassettes/france.yaml", replay="lenient")
        def test_lenient(engy):
            with OpenAI() as client:
                client.chat.completions.create(model="kimi-k3", messages=HELLO)
            assert engy.journal.last.rule is None

        def test_without(engy):
            with OpenAI() as client:
                client.chat.completions.create(model="glm-5.2", messages=HELLO)
            assert engy.journal.last.rule is None

        @pytest.mark.engy(cassette="cassettes/none.yaml")
        def test_no_file(engy):
            pass

        @pytest.mark.engy(replay="lenient")
        def test_nothing_to_replay(engy):
            pass

        @pytest.mark.engy(cassette="cassettes/france.yaml")
        def test_an_unknown_question_fails_the_test(engy):
            with OpenAI(max_retries=0) as client, pytest.raises(Exception):
                client.chat.completions.create(model="kimi-k3", messages=HELLO)
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=4, errors=3)
    result.stdout.fnmatch_lines(["*the marker engy, cassette=: *none.yaml*cannot be read*"])
    result.stdout.fnmatch_lines(["*replay= says how a cassette= is played, and there is none*"])
    result.stdout.fnmatch_lines(["*UnmetExpectation*the nearest is exchange*"])
