"""Settings act on the next request, and a remembered answer does not outlive a changed one."""

import base64
import re
from decimal import Decimal

import httpx2
import pytest

from engy_mock import EngyMock, MockError, Prices, Settings, StandingClock, Worker
from engy_mock.scripting.scenario import Scenario
from engy_mock.vocabulary.clock import START

PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(50)).decode()
PICTURE = {"type": "image_url", "image_url": {"url": PNG}}


@pytest.fixture
def post(engy: EngyMock):
    """Send a body to a route; gives the status and the message of a refusal."""
    with httpx2.Client(headers={"Authorization": f"Bearer {engy.api_key}"}) as http:

        def post(path, **body):
            answer = http.post(f"{engy.base_url}/{path}", json={"model": "kimi-k3", **body})
            return answer.status_code, answer.json().get("error", {}) and answer.json()["error"]["message"]

        yield post


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("stirct", True, "there is no setting 'stirct'. Did you mean 'strict'?"),
        ("strict", 1, "setting strict is 1: input should be a valid boolean"),
        ("capacity", 0, "setting capacity is 0: input should be greater than or equal to 1"),
        ("workers", [{"zdr": "yes"}], "setting workers"),
        ("allowed_hosts", "example.org", "setting allowed_hosts is 'example.org'"),
        ("overflow_wording", "engi", "setting overflow_wording is 'engi'"),
    ],
)
def test_settings_are_looked_at_when_they_are_set(engy, name, value, said):
    """One by one, as a Settings, as a mapping, and as what EngyMock is made with."""
    with pytest.raises(MockError) as one:
        setattr(engy.settings, name, value)
    with pytest.raises(MockError) as mapped:
        EngyMock(settings={name: value})
    assert said in str(one.value)
    assert str(one.value) == str(mapped.value)
    if name in Settings.__slots__:
        with pytest.raises(MockError) as made:
            Settings(**{name: value})
        assert str(made.value) == str(one.value)
    assert engy.settings == Settings()


def test_settings_take_what_stands_for_their_values(engy):
    engy.settings.allowed_hosts = {"a.test"}
    engy.settings.allowed_hosts |= {"b.test"}
    engy.settings.scenario_header = ("outage", "flapping")
    assert engy.settings.scenario_header == frozenset({"outage", "flapping"})
    engy.settings.workers = [Worker(zdr=True)]
    assert engy.settings.allowed_hosts == frozenset({"a.test", "b.test"})
    assert engy.settings.workers == (Worker(zdr=True),)
    engy.reset()
    assert engy.settings == Settings()
    with pytest.raises(MockError, match="settings= takes Settings or a mapping, got 5"):
        EngyMock(settings=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Settings, dict])
def test_each_mock_has_settings_of_its_own(kind):
    """What changes in one mock changes neither what it was made with nor another mock, nested values included."""
    paces = {"glm-5.2": 5.0}
    given = kind(prompt_cache=False, pace_by_model=paces)
    one, other = EngyMock(settings=given), EngyMock(settings=given)
    first = Settings(prompt_cache=False, pace_by_model=paces)
    one.settings.prompt_cache = True
    one.settings.pace_by_model["kimi-k3"] = 7.0
    assert other.settings == EngyMock(settings=given).settings == first
    assert paces == {"glm-5.2": 5.0}
    paces["glm-5.3"] = 9.0
    assert other.settings == first
    for _ in range(2):
        one.reset()
        assert one.settings == first
        one.settings.pace_by_model["kimi-k3"] = 7.0


def test_a_mapping_that_is_set_is_taken_as_it_is_then():
    """An empty one, too, and one that a scenario sets, which begins again after a reset."""
    paces: dict[str, float] = {}
    scenario = Scenario(name="paced", source="here", description="", settings={"pace_by_model": paces})
    engy = EngyMock(scenario=scenario)
    for _ in range(2):
        assert engy.settings.pace_by_model == {}
        engy.settings.pace_by_model["glm-5.2"] = 5.0
        engy.reset()
    assert paces == {}
    engy.settings.pace_by_model = paces
    paces["glm-5.2"] = 5.0
    assert engy.settings.pace_by_model == {}


def test_accounts_have_prices_of_their_own():
    """What an account was opened with can be given to another one, and be changed, without it."""
    price = Prices(input=Decimal(2), output=Decimal(3), cached=Decimal(1))
    prices, discounts = {"glm-5.2": price}, {"kimi-k3": 10}
    engy = EngyMock()
    one, other = [engy.account(prices=prices, discount_percent=discounts) for _ in range(2)]
    one.prices["glm-5.3"] = price
    one.discount_percent["glm-5.3"] = 5
    prices.clear()
    discounts.clear()
    assert (other.prices, other.discount_percent) == ({"glm-5.2": price}, {"kimi-k3": 10})


def test_a_clock_that_is_given_is_shared():
    """Two mocks with one clock have one time, which a reset sets for both; a word is a clock of one's own."""
    clock = StandingClock()
    one, other = EngyMock(clock=clock), EngyMock(clock=clock)
    one.clock.advance(60)
    assert other.clock.now() == START + 60
    other.reset()
    assert one.clock.now() == START
    one, other = EngyMock(clock="standing"), EngyMock(clock="standing")
    one.clock.advance(60)
    assert other.clock.now() == START


def test_strict_tools(engy, post):
    """E-181, E-182a: tools that are no functions are left out, or refused where that is asked for."""
    body = {"input": "Hello", "tools": [{"type": "web_search"}]}
    assert post("responses", **body)[0] == 200
    engy.settings.strict_tools = True
    status, message = post("responses", **body)
    assert (status, "web_search" in message) == (400, True)
    engy.reset()
    assert post("responses", **body)[0] == 200


def test_limits_of_pictures(engy, post):
    """E-145: how many, and how large."""
    body = {"messages": [{"role": "user", "content": [PICTURE, PICTURE]}]}
    assert post("chat/completions", **body)[0] == 200
    engy.settings.max_images = 1
    assert post("chat/completions", **body) == (413, "2 images, at most 1 allowed")
    engy.settings.max_images, engy.settings.max_image_bytes = 2, 20
    assert post("chat/completions", **body) == (413, "image 1 has 58 bytes, at most 20 allowed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wording", "phrase"),
    [
        ("engy", "the context window of glm-5.2 is 262144"),
        ("openai", "maximum context length is 262144 tokens"),
        ("vllm", "maximum context length is 262144 tokens"),
        ("llama.cpp", "exceeds the available context size of 262144 tokens"),
        ("anthropic", "tokens > 262144 maximum"),
    ],
)
def test_overflows_are_worded_as_other_vendors_do(engy, wording, phrase):
    """R-42, R-41: the phrase that clients look for, the numbers, and the code as ever."""
    engy.settings.overflow_wording = wording
    prompt = "word " * 240_000
    body = {"model": "glm-5.2", "prompt": prompt, "max_tokens": 32_768}
    answer = httpx2.post(
        f"{engy.base_url}/completions", json=body, headers={"Authorization": f"Bearer {engy.api_key}"}, timeout=60
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "context_length_exceeded")
    assert phrase in error["message"]
    counted = int(re.findall(r"\d{6}", error["message"])[0])
    assert counted > 240_000


@pytest.mark.parametrize("name", ["*", "outage"])
def test_one_scenario_is_a_set_of_it(name):
    """README: `"*"` is for any."""
    assert Settings(scenario_header=name).scenario_header == frozenset({name})
