"""What a name alone tells: credentials go from queries, forms, fields and assignments, and what only counts stays.

Samples are put together here, so that the tree holds none.
"""

import json

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.recording import named, secrets
from engy_mock.recording.cassette import read
from engy_mock.recording.documents import clean_value
from engy_mock.recording.leaks import leaks
from engy_mock.vocabulary import credentials
from engy_mock.vocabulary.wire import Call
from tests.doors.raw import PATIENCE
from tests.recording.test_secrets import SAMPLES, told

OPEN = "Zq7" + "w5Xk2Rt9Lm"
MARK = "[scrubbed secret field]"


def names(text):
    return text.split()


def kept(answer):
    """The bytes of an answer in a cassette."""
    return answer.body.data if answer.events is None else b"".join([event.data for event in answer.events])


FIELDS = names(
    """
    openai_api_key aws_secret_access_key OPENAI_API_KEY openaiApiKey apiKey APIKey apikey AccountKey pwd cookie
    Set-Cookie client_secret X-Api-Key Ocp-Apim-Subscription-Key password1 passwordConfirmation
    authorization_token accessToken X-Amz-Security-Token x-goog-api-key id_token Proxy-Authorization
    GITHUB_TOKEN SharedAccessKey passphrase
    """
)
PARAMETERS = names(
    """
    key apikey access_token auth password X-Amz-Signature sig code session jwt secret credential
    subscription-key token signature X-Amz-Credential sid PHPSESSID sessionid my_token api%5Fkey
    """
)
NO_FIELDS = names(
    """
    max_tokens prompt_tokens total_tokens tokens token_ids stop_token_ids token code session_id prompt_cache_key
    idempotency-key public_key next_page_token stop_token function_signature api_key_id password_policy
    x-request-id invalid_token cached_tokens completion_tokens_details top_logprobs key monkey author
    auth_method keyword
    """
)
NO_PARAMETERS = names(
    """
    limit after order page_token next_token sort_key stream keyword monkey idempotency_key design
    """
)


@pytest.mark.parametrize("name", FIELDS)
def test_names_of_fields(name):
    """Wherever a field of this name stands, in JSON, in a text or in a query, what is in it goes (Q-33)."""
    assert clean_value({name: OPEN, "more": 1}) == {name: MARK, "more": 1}
    for text in (json.dumps({name: OPEN}), json.dumps(json.dumps({"a": {name: OPEN}})), f"?{name}={OPEN}"):
        assert OPEN not in secrets.clean(text)
        assert name in secrets.clean(text)
    assert f"a=1&{name}=[scrubbed secret parameter]" == secrets.clean_query(f"a=1&{name}={OPEN}")


@pytest.mark.parametrize("name", [*FIELDS, *PARAMETERS])
def test_names_of_parameters(name):
    """In a query and in a form, first or not, and in the query that goes on (Q-31, Q-33)."""
    assert credentials.without_credentials(f"{name}={OPEN}&limit=5") == "limit=5"
    assert secrets.clean_query(f"{name}={OPEN}&limit=5") == f"{name}=[scrubbed secret parameter]&limit=5"
    assert OPEN not in secrets.clean(f"{name}={OPEN}&limit=5")
    assert OPEN not in secrets.clean(f"limit=5&{name}={OPEN}")


@pytest.mark.parametrize("name", NO_FIELDS)
def test_names_that_open_nothing(name):
    """Counts, ids, and keys that sort or cache are no secrets."""
    value = {name: "a text", "more": {name: [1, 2345678]}, "list": [{name: 4711}]}
    assert clean_value(value) == value
    assert secrets.clean(json.dumps(value)) == json.dumps(value)


@pytest.mark.parametrize("name", NO_PARAMETERS)
def test_parameters_that_open_nothing(name):
    """They go on to the service, and into the cassette."""
    assert credentials.without_credentials(f"{name}=abc1234567") == f"{name}=abc1234567"
    assert secrets.clean_query(f"{name}=abc1234567") == f"{name}=abc1234567"


def test_what_stands_below_a_name():
    """Lists, objects and numbers under the name of a secret go too, but for schemas, counts and switches."""
    value = {
        "api_keys": [OPEN, {"first": OPEN}],
        "password": {"v": OPEN, "n": 123456},
        "client_secret": 12345678901234,
        "parameters": {"type": "object", "properties": {"password": {"type": "string", "default": OPEN}}},
        "cookies": 3,
        "api_key": True,
        "secret": None,
    }
    expected = {
        "api_keys": [MARK, {"first": MARK}],
        "password": {"v": MARK, "n": MARK},
        "client_secret": MARK,
        "parameters": {"type": "object", "properties": {"password": {"type": "string", "default": MARK}}},
        "cookies": 3,
        "api_key": True,
        "secret": None,
    }
    assert clean_value(value) == expected
    said = json.dumps({"x": {key: value[key] for key in ("api_keys", "password", "client_secret", "cookies")}})
    cleaned = secrets.clean(said)
    assert json.loads(cleaned)["x"] == {key: expected[key] for key in json.loads(said)["x"]}
    assert secrets.clean(cleaned) == cleaned
    arguments = clean_value({"arguments": json.dumps(json.loads(said))})["arguments"]
    assert json.loads(arguments) == json.loads(cleaned)


@pytest.mark.parametrize(
    "text",
    [
        f"export OPENAI_API_KEY={OPEN}",
        f"OPENAI_API_KEY=CAN{'p' * 12}",
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={OPEN}==;Suffix=y",
        f'client = OpenAI(api_key="{OPEN}")',
        f"const x = {{apiKey: '{OPEN}'}}",
        f"the password={OPEN} is old",
        f"clé{SAMPLES['API key']}",
        f"中{SAMPLES['AWS key']}",
        json.dumps(f"é\n{SAMPLES['API key']}"),
        f"{SAMPLES['AWS key']} and {'wJ/a' * 10}",
    ],
)
def test_secrets_in_prose(text):
    """Assignments, connection strings, and keys that stand right behind a letter of another alphabet (Q-33)."""
    cleaned = secrets.clean(text)
    for part in (OPEN, "p" * 12, SAMPLES["API key"], SAMPLES["AWS key"], "wJ/a"):
        assert part not in cleaned
    assert secrets.clean(cleaned) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "Open a session, sign it, and keep the signature and the code.",
        "client = OpenAI(api_key=api_key, token=get_token())",
        'api_key=os.environ["OPENAI_API_KEY"]',
        "export OPENAI_API_KEY=$(pass show key)",
        "OpenAI(api_key=OPENAI_API_KEY)",
        "key=value",
        "The secret: there is none. password: choose one",
        f"commit {'0a1b' * 10}",
        '{"code": "rate_limit_exceeded", "session": {"id": 1}, "token": "Paris"}',
        '{"type": "object", "properties": {"password": {"type": "string"}}}',
        '{"required": ["password"], "max_tokens": 123456}',
    ],
)
def test_what_only_speaks_of_secrets(text):
    """Prose and programs stay as they are."""
    assert secrets.clean(text) == text
    assert clean_value({"content": text}) == {"content": text}


def test_what_stands_inside_of_something_hidden_is_looked_at_once(monkeypatch):
    """Names within names cost no more than one of them."""
    looked = []
    plain = named._inside

    def counted(text, start, quote):
        looked.append(start)
        return plain(text, start, quote)

    monkeypatch.setattr(named, "_inside", counted)
    secrets.clean('"api_key":{"a":' * 1500)
    assert len(looked) <= 1 + len('"api_key":{"a":' * 1500) // named.MOST_INSIDE


def test_an_aws_secret_beside_its_id():
    """In one document they belong together, wherever each of them stands; a checksum is none."""
    value = {"id": SAMPLES["AWS key"], "value": "wJ/a" * 10, "commit": "0a1b" * 10}
    assert clean_value(value) == {
        "id": "[scrubbed AWS key]",
        "value": "[scrubbed AWS secret key]",
        "commit": "0a1b" * 10,
    }


WORDS = st.sampled_from([" password", "password", "api_key", "secret", "session", "token", "cookie", "a", "é"])
NUMBERS = st.floats(min_value=-9000, max_value=0, allow_nan=False)
TOP = st.dictionaries(WORDS, NUMBERS, max_size=4)
COUNTS = st.fixed_dictionaries(
    {
        name: st.integers(0, 10**7)
        for name in ("prompt_tokens", "completion_tokens", "total_tokens", "input_tokens")
    }
)
PIECE = st.fixed_dictionaries(
    {"token": WORDS, "logprob": NUMBERS, "bytes": st.lists(st.integers(0, 255), max_size=3)}
)
CHAT = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries(
                {
                    "index": st.integers(0, 3),
                    "token_ids": st.lists(st.integers(0, 10**10), max_size=3),
                    "logprobs": st.fixed_dictionaries(
                        {
                            "content": st.lists(
                                st.builds(
                                    lambda one, top: {**one, "top_logprobs": top},
                                    PIECE,
                                    st.lists(PIECE, max_size=2),
                                ),
                                max_size=4,
                            )
                        }
                    ),
                }
            ),
            max_size=2,
        ),
        "usage": COUNTS,
    }
)
COMPLETION = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries(
                {
                    "logprobs": st.fixed_dictionaries(
                        {
                            "tokens": st.lists(WORDS, max_size=4),
                            "token_logprobs": st.lists(NUMBERS, max_size=4),
                            "top_logprobs": st.lists(TOP, max_size=4),
                        }
                    )
                }
            ),
            max_size=2,
        ),
        "usage": COUNTS,
    }
)
MESSAGE = st.fixed_dictionaries(
    {
        "content": st.lists(
            st.fixed_dictionaries(
                {"type": st.just("thinking"), "thinking": WORDS, "signature": st.text("aB3+/=", min_size=20)}
            ),
            max_size=2,
        ),
        "usage": COUNTS,
    }
)
REFUSAL = st.fixed_dictionaries(
    {"error": st.fixed_dictionaries({"message": WORDS, "code": st.text("a_1", min_size=1), "param": WORDS})}
)


@settings(max_examples=60, deadline=None)
@given(value=st.one_of(CHAT, COMPLETION, MESSAGE, REFUSAL), is_stream=st.booleans())
def test_counts_and_log_probabilities_survive(tmp_path_factory, value, is_stream):
    """Whatever the tokens spell, an answer without secrets is kept byte for byte, whole and streamed (Q-33)."""
    data = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    data = b"data: " + data + b"\n\n" if is_stream else data
    kind = "text/event-stream" if is_stream else "application/json"
    path = tmp_path_factory.mktemp("kept") / "x.yaml"
    told(path, data, content_type=kind)
    (exchange,) = read(path).exchanges
    assert kept(exchange.answer) == data
    assert list(leaks(path)) == []


@pytest.mark.parametrize(
    ("path", "wish", "streams"),
    [
        ("chat/completions", {"top_logprobs": 3}, False),
        ("chat/completions", {"top_logprobs": 3}, True),
        ("completions", {}, False),
    ],
)
def test_log_probabilities_through_a_recorder(service, recorder, path, wish, streams):
    """They are on the disk as they were on the wire, beside a text that speaks of secrets (Q-33)."""
    service.when().reply("The password is a secret: api_key, session and token count as tokens.")
    is_chat = path.startswith("chat")
    asked = {"messages": [{"role": "user", "content": "Hi"}]} if is_chat else {"prompt": "Hi"}
    body = {"model": "glm-5.2", **asked, **wish, "logprobs": True if is_chat else 3, "stream": streams}
    with httpx2.Client(base_url=recorder.base_url, trust_env=False, timeout=PATIENCE) as client:
        heard = client.post(f"/{path}", json=body, headers={"Authorization": "Bearer the-clients-own"})
    assert (heard.status_code, b"logprobs" in heard.content) == (200, True)
    (exchange,) = recorder.cassette.exchanges
    assert kept(exchange.answer) == heard.content
    assert list(leaks(recorder.tape.path)) == []


def test_the_service_is_asked_without_keys(service, recorder):
    """Parameters that are credentials stay here, by their name or because their value is a key (Q-31)."""
    query = "&".join([f"{name}={OPEN}" for name in (*FIELDS, *PARAMETERS)])
    with httpx2.Client(base_url=recorder.base_url, trust_env=False, timeout=PATIENCE) as client:
        heads = {"Authorization": "Bearer the-clients-own", "X-Stainless-Api-Key": OPEN}
        listed = client.get(f"/models?{query}&limit=5&x=the-clients-own&order=asc", headers=heads)
    assert listed.status_code == 200
    assert OPEN not in recorder.text
    assert "the-clients-own" not in recorder.text
    (exchange,) = recorder.cassette.exchanges
    assert exchange.request.query.endswith("limit=5&x=[scrubbed key of the client]&order=asc")


def test_every_key_that_a_client_shows_is_known():
    """Headers by their names, cookies one by one, and parameters that are long enough (Q-32)."""
    headers = {"Authorization": "Bearer abc", "X-Custom-Token": OPEN, "Cookie": f"a={OPEN}1; b=2", "Accept": OPEN}
    call = Call(method="GET", path="/v1/models", headers=headers, query=f"sig={OPEN}2&code=short&limit={OPEN}3")
    assert credentials.shown(call) == ["Bearer abc", "abc", OPEN, f"a={OPEN}1; b=2", "b=2", f"{OPEN}1", f"{OPEN}2"]
