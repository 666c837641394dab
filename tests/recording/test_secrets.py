"""No secret reaches the disk, wherever it stands and however it is cut.

Samples are put together here, so that the tree holds none.
"""

import json
from base64 import b64encode, urlsafe_b64encode
from textwrap import wrap
from urllib.parse import quote

import httpx2
import pytest

from engy_mock import ToolCall
from engy_mock.recording import secrets
from engy_mock.recording.documents import clean_value
from engy_mock.recording.tape import Tape
from engy_mock.vocabulary.wire import Call
from tests.doors.raw import PATIENCE

A, B = "a1B2" * 10, "0Z9y" * 4
SAMPLES = {
    "private key": "-----BEGIN " + "PRIVATE KEY-----\nMIIE\n-----END " + "PRIVATE KEY-----",
    "API key": "sk-" + A,
    "AWS key": "AKIA" + "QWERTZ1234567890",
    "Google key": "AIza" + A[:35],
    "GitHub token": "ghp_" + A[:36],
    "GitLab token": "glpat-" + A[:20],
    "Slack token": "xoxb-" + "123456789012-abc",
    "npm token": "npm_" + A[:36],
    "Hugging Face token": "hf_" + A[:34],
    "inference key": "gsk_" + A,
    "payment key": "sk_live_" + A[:24],
    "mail key": "SG." + A[:22] + "." + A[:30],
    "JSON web token": "eyJ" + A[:20] + ".eyJ" + A[:20] + "." + A,
    "bearer token": "Bearer " + A,
    "password in an address": "postgres://me:" + B + "@db.test/x",
    "secret parameter": "https://x.test/?api_key=" + B,
    "secret field": '{"password": "' + B + '"}',
}
KINDS = list(SAMPLES)
HARMLESS = [
    "Ask me about sk-learn and other tools.",
    "The risk-assessment-based approach 2024",
    "Basic internationalization of forms",
    "https://example.test/?page=2&keyword=cats",
    '{"token": " Paris", "logprob": -0.1}',
    "bearer of bad news",
    "user@example.test: write to us://",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_shape_is_found(kind):
    """Each row of the table finds its sample, and leaves nothing that it would find again."""
    text = f"before {SAMPLES[kind]} behind"
    assert [found.kind for found in secrets.find(text)] == [kind]
    cleaned = secrets.clean(text)
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" behind")
    assert secrets.mark(kind) in cleaned
    assert secrets.clean(cleaned) == cleaned


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    """Words that only look a little like one are left alone."""
    assert secrets.clean(text) == text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 3, 7])
def test_secrets_in_parts(kind, size):
    """However a text is cut, what is left of it is the clean text (Q-34)."""
    text = f"before {SAMPLES[kind]} behind"
    parts = [text[place : place + size] for place in range(0, len(text), size)]
    assert "".join(secrets.clean_parts(parts)) == secrets.clean(text)


ODD = "plain~/+word?\u00dc9"


@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"abc", b"user:"])
@pytest.mark.parametrize("behind", [b"", b":", b"yz"])
@pytest.mark.parametrize("write", [b64encode, urlsafe_b64encode])
def test_known_keys_go_in_base64(before, behind, write):
    """Wherever the key begins in what is coded; of its neighbours nothing is lost that has no part of it."""
    coded = write(before + ODD.encode() + behind).decode()
    cleaned = secrets.clean(f"see {coded} there", {ODD: "upstream key"})
    left = cleaned.replace("[scrubbed upstream key]", "").removeprefix("see ").removesuffix(" there")
    assert "[scrubbed upstream key]" in cleaned
    assert len(left.rstrip("=")) <= len(before + behind) * 4 / 3 + 3
    other = write(before + b"other words than those" + behind).decode()
    assert secrets.clean(other, {ODD: "upstream key"}) == other


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\r\\n", "\n  "])
@pytest.mark.parametrize("before", range(40, 60, 3))
@pytest.mark.parametrize("write", [b64encode, urlsafe_b64encode])
def test_known_keys_go_in_base64_that_is_broken_into_lines(before, write, line_end):
    """Also where a key stands across the end of a line, as in a mail (76 columns)."""
    coded = write(b"x" * before + ODD.encode() + b"y" * 60).decode()
    lines = line_end.join(wrap(coded, 76))
    assert line_end in lines
    cleaned = secrets.clean(f"see {lines} there", {ODD: "upstream key"})
    start, end = cleaned.removeprefix("see ").removesuffix(" there").split("[scrubbed upstream key]")
    assert lines.startswith(start)
    assert lines.endswith(end)
    assert len("".join((start + end).replace("\\r\\n", "").split())) <= (before + 60) * 4 / 3 + 3
    other = line_end.join(wrap(write(b"other words than those" * 5).decode(), 76))
    assert secrets.clean(other, {ODD: "upstream key"}) == other


@pytest.mark.parametrize(
    "written",
    [
        quote(ODD, safe=""),
        quote(ODD, safe="/"),
        quote(ODD, safe="").lower(),
        quote(quote(ODD, safe=""), safe=""),
        "".join(f"%{byte:02x}" for byte in ODD.encode()),
    ],
)
def test_known_keys_go_where_they_are_percent_encoded(written):
    """Each character may be written so, or stand as it is."""
    assert secrets.clean(f"a={written}&b", {ODD: "upstream key"}) == "a=[scrubbed upstream key]&b"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Send x-api-key: plainword9 with it", "Send x-api-key: [scrubbed secret field] with it"),
        ("curl -H 'X-Api-Key:plainword9'", "curl -H 'X-Api-Key:[scrubbed secret field]'"),
        ("x-api-key: yours", "x-api-key: yours"),
        ("The well-known-key: value goes first", "The well-known-key: value goes first"),
        ("api-key: $API_KEY9", "api-key: $API_KEY9"),
    ],
)
def test_headers_in_a_text(text, cleaned):
    """A line of a header names what stands in it, in the middle of a sentence too."""
    assert secrets.clean(text) == cleaned


def test_a_key_in_odd_forms_reaches_no_file(tmp_path):
    """The recorder knows its own key and those of its clients, in requests and in answers."""
    path = tmp_path / "taped.yaml"
    tape = Tape(path, "https://api.engy.ai/v1", {ODD: "upstream key"})
    forms = [b64encode(f"{key}:".encode()).decode() for key in (ODD, "client-word-7")] + [quote(ODD, safe="")]
    call = Call(
        method="POST", path="/v1/chat/completions", headers={}, body=json.dumps({"prompt": forms}).encode()
    )
    take = tape.begin(call, ["client-word-7"])
    take.head(1, 200, [("content-type", "application/json")], is_stream=False)
    take.heard(2, json.dumps({"echo": forms}).encode())
    take.end("end")
    tape.close()
    written = path.read_text(encoding="utf-8")
    assert written.count("[scrubbed upstream key]") == 4
    assert written.count("[scrubbed key of the client]") == 2
    assert not any(form.rstrip("=")[:-2] in written for form in forms)


def test_known_keys_go_wherever_they_stand():
    """A key that is known needs no shape, also where it is written for an address."""
    known = {"simple+key": "upstream key"}
    assert (
        secrets.clean("x simple+key y simple%2Bkey", known)
        == "x [scrubbed upstream key] y [scrubbed upstream key]"
    )
    assert secrets.clean("a word", {"word": "upstream key"}) == "a word"


def test_fields_by_their_names():
    """A field that is named like a secret holds one, whatever it looks like; a schema of it does not."""
    value = {"client_secret": "x", "properties": {"password": {"type": "string"}}, "list": [{"apiKey": "y"}]}
    assert clean_value(value) == {
        "client_secret": "[scrubbed secret field]",
        "properties": {"password": {"type": "string"}},
        "list": [{"apiKey": "[scrubbed secret field]"}],
    }


def test_a_text_that_is_spelt_out():
    """Tokens of a list that spell a secret are cleaned together, and what repeats them goes."""
    secret = SAMPLES["API key"]
    tokens = [{"token": secret[place : place + 5], "bytes": [1], "logprob": -1.0} for place in range(0, 43, 5)]
    cleaned = json.dumps(clean_value({"content": f"It is {secret}.", "logprobs": {"content": tokens}}))
    assert secret[10:15] not in cleaned
    assert '"bytes": []' in cleaned


def stream(*texts):
    """A stream of chat in pieces of text."""
    events = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    return b"".join([b"data: " + json.dumps(event).encode() + b"\n\n" for event in events])


def told(path, data, content_type="text/event-stream", sizes=(7,), body=b"", keys=(), query=""):
    """The text of a cassette of one exchange whose answer came in pieces of these sizes."""
    tape = Tape(path, "http://127.0.0.1/v1", {"the-upstream-key": "upstream key"})
    call = Call(method="POST", path="/v1/chat/completions", headers={}, body=body, query=query)
    take = tape.begin(call, keys)
    take.head(
        1,
        200,
        [("Content-Type", content_type), ("X-Request-Id", "the-upstream-key")],
        is_stream="event" in content_type,
    )
    place, turn = 0, 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        take.heard(turn, data[place : place + size])
        place, turn = place + size, turn + 1
    take.end("end")
    tape.close()
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_that_is_split_over_deltas(tmp_path, kind):
    """Whatever the borders of pieces and chunks, no part of it that matters is on the disk (Q-34)."""
    secret = SAMPLES[kind]
    third = len(secret) // 4
    parts = [secret[:third], secret[third : 2 * third], secret[2 * third : 3 * third], secret[3 * third :]]
    text = told(tmp_path / "x.yaml", stream("It is ", *parts, ", you know."))
    assert secrets.mark(kind) in text
    assert list(secrets.leaks(text.split("\n"))) == []
    hidden = secrets.find(secret)[0]
    for part in (secret[hidden.start : hidden.end][-12:], secret[hidden.start : hidden.end][8:20]):
        assert part not in text
    assert "you know." in text


def test_keys_in_every_place(tmp_path):
    """Header, query, body and a text that is no JSON: neither of the two keys is written down (Q-33)."""
    body = json.dumps({"a": "the-client-key", "the-client-key": 1, "b": ["x the-upstream-key y"]}).encode()
    text = told(
        tmp_path / "x.yaml",
        b"the-upstream-key and the-client-key \xff",
        content_type="text/plain",
        body=body,
        keys=["the-client-key"],
        query="x=the-client-key&sig=abc",
    )
    assert "the-client-key" not in text
    assert "the-upstream-key" not in text
    assert "[scrubbed secret parameter]" in text


def test_comments_and_payloads_over_several_lines(tmp_path):
    """What is no JSON in a stream is cleaned too."""
    secret = SAMPLES["API key"]
    data = f": {secret}\n\nevent: {secret}\ndata: one {secret}\ndata: two\n\n".encode()
    text = told(tmp_path / "x.yaml", data)
    assert secret not in text
    assert text.count("[scrubbed API key]") == 3


def test_secrets_through_a_recorder(service, recorder):
    """Prompt, tool arguments, deltas, query and headers, as a client sends and hears them (Q-31, Q-33)."""
    secret = SAMPLES["GitHub token"]
    service.when(stream=True).reply(f"Your token is {secret}, keep it.")
    service.when().reply(tool_calls=[ToolCall("login", token=secret, password="hunter-two")])
    question = {"model": "glm-5.2", "messages": [{"role": "user", "content": f"Is {secret} mine?"}]}
    with httpx2.Client(base_url=recorder.base_url, trust_env=False, timeout=PATIENCE) as client:
        for streams in (True, False):
            answer = client.post(
                f"/chat/completions?api_key={secret}",
                json={**question, "stream": streams, "logprobs": True, "top_logprobs": 2},
                headers={"Authorization": "Bearer client-key-0815", "Cookie": f"session={secret}"},
            )
            assert answer.status_code == 200
            assert secret in answer.text or streams
    text = recorder.text
    for part in (secret, secret[4:16], "hunter-two", "client-key-0815", "the-real-one"):
        assert part not in text
    assert "Cookie" not in text
    assert "keep it." in text
    assert list(secrets.leaks(text.split("\n"))) == []


def test_leaks_are_told_by_line_and_kind():
    """A leak check never repeats what it found (Q-33)."""
    assert list(secrets.leaks(["good", f"x: {SAMPLES['AWS key']}"])) == [(2, "AWS key")]
