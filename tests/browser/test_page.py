"""The page of the mock in Chromium: real clicks, real keys, no complaints (Q-8, Q-22)."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from urllib.request import Request, urlopen

import pytest
from httpx2 import TransportError

from engy_mock import EngyMock
from engy_mock.cli import main
from tests.browser.conftest import PATIENCE, SCENARIOS
from tests.control.conftest import Caller

pytestmark = pytest.mark.browser

SCRIPT = "<script>document.title = 'stolen'</script><img src=x onerror=\"document.title = 'stolen'\">"
INI = "[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
WIDTHS = (360, 400, 600, 860, 1240, 2000)
VIEWS = ("exchanges", "exchanges/0", "playground", "scenarios", "accounts")


def expect(locator):
    """What is claimed of a part of the page, which may take its time until it is so."""
    claims = import_module("playwright.sync_api").expect
    claims.set_options(timeout=PATIENCE)
    return claims(locator)


@pytest.fixture
def served(tmp_path):
    """`engy-mock serve` in a folder with scenarios of its own; the address of its page, as it prints it."""
    for name, text in SCENARIOS.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "engy_mock",
        "serve",
        "--port",
        "0",
        "--scenarios",
        ".",
        "--log-format",
        "none",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment)
    assert process.stdout is not None
    line = process.stdout.readline()
    yield re.fullmatch(r"page: (http://127\.0\.0\.1:\d+/_mock/)\n", line)[1]
    process.kill()
    process.communicate()


def clipboard(tab):
    return tab.evaluate("navigator.clipboard.readText()")


def copied(tab, label, told):
    """What a click on a button under "Copy as" has put on the clipboard."""
    tab.get_by_role("group", name="Copy this exchange").get_by_role("button", name=label).click()
    tab.get_by_role("status").get_by_text(told).wait_for()
    text = clipboard(tab)
    assert tab.locator(".copied").inner_text().strip() == text.strip()
    return text


def test_a_morning_of_a_front_end_developer(served, context, tab, pytester, tmp_path, capsys):
    """Ask, break it by a scenario, see where and why, take it along as a command, a test and a scenario."""
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(served)
    tab.get_by_role("link", name="Playground", exact=True).click()
    tab.get_by_label("Prompt", exact=True).fill("What is the capital of France?")
    tab.get_by_label("Model").select_option("glm-5.2")
    tab.get_by_role("button", name="Send").click()
    expect(tab.locator(".spoken")).to_contain_text("The capital of France is Paris.")
    expect(tab.locator(".told")).to_contain_text("200, over after")

    tab.get_by_role("link", name="Scenarios", exact=True).click()
    tab.get_by_label("Filter scenarios").fill("each stream breaks off")
    switch = tab.get_by_role("switch", name="cut-streams")
    expect(switch).to_have_attribute("aria-checked", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(tab.locator(".rules")).to_contain_text("cut after=3")
    tab.get_by_label("Filter scenarios").fill("nothing is called this")
    expect(tab.get_by_text("None fits the filter.")).to_be_visible()

    tab.get_by_role("link", name="Playground", exact=True).click()
    tab.get_by_role("button", name="Send").click()
    expect(tab.locator(".told")).to_contain_text("broke off")
    tab.watched.forget("net::ERR_INCOMPLETE_CHUNKED_ENCODING")
    tab.get_by_role("link", name=re.compile("exchange 1 has the details")).click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("POST /v1/chat/completions")
    reasons = tab.locator(".reasons")
    expect(reasons).to_contain_text("By scenario cut-streams, rule 1.")
    expect(reasons).to_contain_text("Changed by the fault cut after=3.")
    expect(reasons).to_contain_text(
        re.compile(r"The connection was closed after 3 of 17 pieces, .* after the request\.")
    )
    before = tab.locator(".tokens.reasoning").evaluate(
        "place => [...place.childNodes].map(one => one.textContent)"
    )
    assert before[:5] == ["The", " user", " as", "✂", "ks"]
    assert tab.locator(".token.unsent").count() == 14
    events = tab.locator(".timeline > li")
    assert events.count() == 5
    expect(events.last).to_contain_text("connection closed")

    command = copied(tab, "curl", "Copied as a command")
    done = subprocess.run(["sh"], input=command, text=True, capture_output=True, timeout=30, check=False)
    assert (done.stdout.count("data: "), "[DONE]" in done.stdout) == (4, False)
    assert done.returncode == 18, "curl has noticed that the answer was not whole"
    pytester.makepyfile(copied(tab, "pytest test", "Copied as a test"))
    pytester.makeini(INI)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    scenario = tmp_path / "copied.yaml"
    scenario.write_text(copied(tab, "scenario rule", "Copied as a scenario"), encoding="utf-8")
    assert main(["check", str(scenario)]) == 0
    assert "good" in capsys.readouterr().out


def test_text_of_requests_is_text(opened, ask):
    """Q-22: whatever a client sends, it is shown as it is and does nothing."""
    ask.engy.when(says="<script>").reply(SCRIPT, reasoning=SCRIPT, faults=["crlf"])
    ask.chat(SCRIPT, max_tokens=300, logprobs=True, top_logprobs=2, stream=True, user=SCRIPT).read()
    ask.chat("x", model=SCRIPT)
    ask("POST", "accounts", {"name": SCRIPT[:100]})
    ask("PUT", "scenarios/odd", {"text": json.dumps({"description": SCRIPT, "rules": [{"refuse": 418}]})})
    for view in ("exchanges/0", "playground", "scenarios", "accounts"):
        opened.goto(f"{opened.url.partition('#')[0]}#/{view}")
        opened.get_by_text("<script>").first.wait_for()
    assert opened.locator("main script, main img, aside img, #list img, #list script").count() == 0
    assert opened.title().endswith("engy_mock")


def test_markup_is_refused_by_the_browser_itself(opened):
    """Q-22: even a mistake in the page could not turn text into markup, nor run a script that is not its own."""
    said = opened.evaluate(
        """() => {
            const tell = (act) => { try { act(); return "done"; } catch (error) { return error.name; } };
            return [
                tell(() => { document.body.innerHTML = "<b>x</b>"; }),
                tell(() => document.body.setAttribute("onclick", "document.title = 'stolen'")),
                tell(() => { document.createElement("script").text = "document.title = 'stolen'"; }),
            ];
        }"""
    )
    assert said == ["TypeError", "TypeError", "TypeError"]
    opened.watched.forget("This document requires")


def test_tokens_show_how_likely_they_were(opened, ask):
    """By the mouse and by the arrow keys."""
    ask.engy.when().reply("one two three")
    ask.chat("Count!", logprobs=True, top_logprobs=3, max_tokens=50)
    opened.locator("a.row").first.click()
    tokens = opened.locator(".tokens.text .token")
    expect(tokens).to_have_text(["one", " two", " three"])
    tokens.nth(1).hover()
    card = opened.get_by_role("tooltip")
    top = ask("GET", "journal/0")["choices"][0]["tokens"][1]
    expect(card).to_contain_text(f"{top['logprob']:.4f}")
    assert card.locator(".bar-row").count() == 3 + (top["token"] not in [token for token, _ in top["top"]]) * 0
    opened.mouse.move(0, 0)
    expect(card).to_have_count(0)
    opened.locator(".tokens.text").focus()
    for text in ("one", "␣two", "␣three"):
        opened.keyboard.press("ArrowRight")
        expect(card.locator(".card-head code")).to_have_text(text)


def test_an_answer_under_way_is_seen_to_hang_and_end(opened, ask):
    """First under way and silent, then left by its client; without loading anything anew."""
    ask.engy.when().reply("one two three", faults=[{"kind": "stall", "after": 1}])
    body = {"model": "glm-5.2", "stream": True, "messages": [{"role": "user", "content": "Wait!"}]}
    headers = {"Authorization": f"Bearer {ask.engy.api_key}", "Content-Type": "application/json"}
    request = Request(f"{ask.engy.origin}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urlopen(request, timeout=20) as answer:
        answer.readline()
        row = opened.locator("a.row[data-tone=open]")
        expect(row).to_contain_text("under way")
        row.click()
        expect(opened.locator(".reasons")).to_contain_text("Under way after 1 of 3 pieces, and silent since")
    expect(opened.locator(".reasons")).to_contain_text("The client left after 1 of 3 pieces")
    expect(opened.locator("a.row .tag")).to_contain_text(["stream", "stall", "client left"])


DIALECTS = [
    ("Chat completions", "glm-5.2"),
    ("Messages", "glm-5.2"),
    ("Responses", "glm-5.2"),
    ("Completions", "glm-5.2"),
    ("Chat completions (v5)", "openai/gpt-4o"),
    ("Completions (v5)", "openai/gpt-3.5-turbo-instruct"),
    ("Responses (v5)", "openai/gpt-4o"),
    ("Inference (v5)", "openai/gpt-4o"),
]


@pytest.mark.parametrize(("dialect", "model"), DIALECTS)
def test_the_playground_speaks_each_dialect(opened, ask, dialect, model):
    """What it shows is what was said, reasoning included."""
    opened.keyboard.press("2")
    opened.get_by_label("Dialect").select_option(label=dialect)
    opened.get_by_label("Model").select_option(model)
    opened.get_by_label("Prompt", exact=True).fill("Why do bridges sway?")
    opened.keyboard.press("Control+Enter")
    expect(opened.locator(".told")).to_contain_text("exchange 0 has the details")
    [entry] = ask.engy.journal
    assert entry.status == 200
    shown = opened.locator(".spoken .text").all_inner_texts()
    assert "".join(shown).strip() == entry.text.strip() != ""
    reasoning = entry.generation.choices[0].whole_reasoning
    assert "".join(opened.locator(".spoken .reasoning").all_inner_texts()) == reasoning


def test_the_playground_begins_with_the_first_of_each(opened, ask):
    """The default account and the first model of a dialect, until somebody chooses; that stays if it can."""
    models: dict[bool, list[str]] = {True: [], False: []}
    for one in ask("GET", "models")["models"]:
        models[one["vendor"] is None].append(one["id"])
    for name in ("aaa", "zzz"):
        ask.engy.account(name)
    opened.keyboard.press("2")
    account, model = opened.get_by_label("Account"), opened.get_by_label("Model")
    expect(account).to_have_value("default")
    for dialect, _ in DIALECTS:
        opened.get_by_label("Dialect").select_option(label=dialect)
        expect(model).to_have_value(models["(v5)" not in dialect][0])
    model.select_option(models[False][1])
    account.select_option("aaa")
    opened.get_by_label("Dialect").select_option(label="Chat completions (v5)")
    expect(model).to_have_value(models[False][1])
    opened.keyboard.press("Escape")
    opened.get_by_role("link", name="Accounts", exact=True).click()
    opened.get_by_role("link", name="Playground", exact=True).click()
    expect(account).to_have_value("aaa")
    expect(model).to_have_value(models[False][1])


def test_the_playground_asks_for_log_probabilities(opened, ask):
    opened.keyboard.press("2")
    opened.get_by_label("Log probabilities").check()
    opened.get_by_role("button", name="Send").click()
    opened.locator(".spoken .token[data-doubt]").first.hover()
    expect(opened.get_by_role("tooltip").locator(".bar-row")).to_have_count(5)
    assert ask.engy.journal.last.json()["top_logprobs"] == 5


def test_the_playground_stops_and_shows_refusals(opened, ask):
    ask.engy.when(says="wait").reply("one two", faults=[{"kind": "stall", "after": 1}])
    ask.engy.when(says="no").refuse(503, "out of order")
    opened.keyboard.press("2")
    prompt, send = opened.get_by_label("Prompt", exact=True), opened.get_by_role("button", name="Send")
    prompt.fill("wait")
    send.click()
    expect(opened.locator(".spoken")).to_have_text("one")
    opened.get_by_role("button", name="Stop").click()
    expect(opened.locator(".told")).to_contain_text("Stopped after")
    prompt.fill("no")
    send.click()
    expect(opened.locator(".told")).to_contain_text("503, over after")
    expect(opened.locator(".spoken")).to_contain_text("out of order")
    opened.watched.forget("503")
    opened.get_by_text("Body of the request").click()
    opened.get_by_label("Body of the request").fill('{"model": "nope"}')
    send.click()
    expect(opened.locator(".told")).to_contain_text("400, over after")
    opened.watched.forget("400")


def test_who_sends_again_sees_the_new_answer(opened, ask):
    """Nothing of the one before, which is still under way then: not that it was stopped, nor its exchange."""
    ask.engy.when(says="wait").reply("one two", faults=[{"kind": "stall", "after": 1}])
    opened.keyboard.press("2")
    prompt, send = opened.get_by_label("Prompt", exact=True), opened.get_by_role("button", name="Send")
    prompt.fill("wait")
    send.click()
    expect(opened.locator(".spoken")).to_have_text("one")
    send.click()
    expect(opened.locator(".told")).to_contain_text("200, first byte after")
    expect(opened.locator(".spoken")).to_have_text("one")
    expect(opened.get_by_role("button", name="Stop")).to_be_enabled()
    prompt.fill("What is the capital of France?")
    send.click()
    expect(opened.locator(".told")).to_contain_text("200, over after")
    expect(opened.locator(".told")).to_contain_text("exchange 2 has the details")
    assert opened.locator(".told a").count() == 1
    expect(opened.locator(".spoken .text")).to_have_text("The capital of France is Paris.")


def test_streams_that_look_odd_are_read(opened, ask):
    """All that the standard allows, in the playground and event by event."""
    ask("PUT", "scenarios/sse-torture", {})
    opened.keyboard.press("2")
    texts = set()
    for number in range(17):
        opened.get_by_role("button", name="Send").click()
        expect(opened.locator(".told")).to_contain_text(f"exchange {number} has the details")
        if number < 16:
            texts.add(opened.locator(".spoken .text").text_content())
            assert ask.engy.journal.last.faults
    assert texts == {ask.engy.journal[0].text}
    for number in range(16):
        opened.goto(f"{opened.url.partition('#')[0]}#/exchanges/{number}")
        expect(opened.locator("h1")).to_have_text("POST /v1/chat/completions")
        expect(opened.locator(".part-events")).to_contain_text("end mark")
        expect(opened.locator(".part-events")).not_to_contain_text("not JSON")
        expect(opened.locator(".part-events")).not_to_contain_text("unfinished")


def test_the_keyboard_is_enough(opened, ask):
    """Views, list, filter and switches without a mouse, and nothing on the way without a name."""
    for text in ("first", "second", "third"):
        ask.chat(text)
    expect(opened.locator("a.row")).to_have_count(3)
    opened.keyboard.press("j")
    expect(opened.locator("a.row[aria-current=true] .row-words")).to_have_text("third")
    opened.keyboard.press("j")
    expect(opened.locator("a.row[aria-current=true] .row-words")).to_have_text("second")
    opened.keyboard.press("k")
    expect(opened.locator("a.row[aria-current=true] .row-words")).to_have_text("third")
    opened.keyboard.press("/")
    opened.keyboard.type("first")
    expect(opened.locator("a.row")).to_have_count(1)
    opened.keyboard.press("Tab")
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.className") == "row"
    opened.keyboard.press("Enter")
    expect(opened.locator("a.row[aria-current=true] .row-words")).to_have_text("first")
    opened.keyboard.press("3")
    opened.get_by_label("Filter scenarios").focus()
    opened.keyboard.type("two-phases refuses")
    opened.keyboard.press("Escape")
    opened.get_by_role("switch", name="two-phases").focus()
    opened.keyboard.press("Space")
    expect(opened.get_by_role("switch", name="two-phases")).to_have_attribute("aria-checked", "true")
    expect(opened.get_by_role("switch", name="two-phases")).to_be_focused()
    phase = opened.get_by_role("button", name="well")
    phase.focus()
    opened.keyboard.press("Enter")
    expect(phase).to_have_attribute("aria-pressed", "true")
    assert ask.chat("x").status_code == 200
    opened.keyboard.press("?")
    expect(opened.get_by_role("dialog", name="Keys")).to_be_visible()
    opened.keyboard.press("Escape")
    expect(opened.get_by_role("dialog")).to_have_count(0)


def test_every_control_has_a_name(opened, ask):
    """For those who hear the page: each stop of Tab says what it is, and is seen to have the focus."""
    ask.chat("Hello!")
    for view in VIEWS:
        opened.goto(f"{opened.url.partition('#')[0]}#/{view}")
        opened.locator("main h1").wait_for()
        unnamed = opened.evaluate(
            """() => [...document.querySelectorAll("a, button, input, select, textarea, summary, [tabindex='0']")]
                .filter((one) => one.checkVisibility())
                .filter((one) => !one.ariaLabel && !one.innerText?.trim() && !one.labels?.length)
                .map((one) => one.outerHTML)"""
        )
        assert unnamed == []
        opened.locator("body").press("Tab")
        outlined = opened.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outlined != "none"


def test_dark_and_light(context, opened):
    """As the system has it, until somebody chooses; a choice is kept."""

    def ground():
        return opened.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    opened.emulate_media(color_scheme="dark")
    dark = ground()
    assert light != dark
    opened.get_by_role("button", name="Colours: auto").click()
    assert ground() == light
    opened.reload()
    expect(opened.get_by_role("button", name="Colours: light")).to_be_visible()
    assert ground() == light
    opened.get_by_role("button", name="Colours: light").click()
    opened.emulate_media(color_scheme="light")
    assert ground() == dark


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out(opened, ask, width):
    """From telephones to large screens: no view is wider than the window."""
    ask("PUT", "scenarios/cut-streams", {})
    ask.engy.when().reply("x" * 300 + " one two three " * 40, faults=["crlf"])
    with suppress(TransportError):
        ask.chat("y" * 300, stream=True, max_tokens=300, logprobs=True).read()
    ask.chat("Hello!", model="z" * 300)
    opened.set_viewport_size({"width": width, "height": 800})
    for view in (*VIEWS, "exchanges/1"):
        opened.goto(f"{opened.url.partition('#')[0]}#/{view}")
        opened.locator("main h1:visible, a.row:visible").first.wait_for()
        wide = opened.evaluate(
            """() => [...document.querySelectorAll("html, body, main, #list, header")]
                .filter((one) => one.scrollWidth > Math.max(one.clientWidth, 1)).map((one) => one.tagName)"""
        )
        assert wide == []
        hidden = opened.evaluate(
            """() => [...document.querySelectorAll("main dd, main p, main h1, main h3, main li, main code")]
                .filter((one) => one.checkVisibility() && getComputedStyle(one).textOverflow !== "ellipsis")
                .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML)"""
        )
        assert hidden == []
    opened.goto(f"{opened.url.partition('#')[0]}#/exchanges")
    row = opened.locator("a.row").last
    row.click()
    expect(opened.get_by_role("heading", level=1)).to_be_visible()
    assert row.is_visible() is (width > 860)


def test_accounts_and_the_clock(opened, ask):
    opened.keyboard.press("4")
    opened.get_by_role("button", name="+1 h").click()
    expect(opened.locator(".now")).to_have_text("2026-10-18 01:00:00 UTC")
    opened.get_by_role("button", name="Let it run").click()
    expect(opened.get_by_role("button", name="Let it stand")).to_be_visible()
    assert ask.engy.clock.waits_for_real()
    opened.get_by_role("button", name="Let it stand").click()
    opened.get_by_text("Open another account").click()
    opened.get_by_label("Name").fill("poor")
    opened.get_by_role("button", name="Open it").click()
    poor = opened.locator(".account", has_text="poor")
    expect(poor.locator(".amount")).to_have_text("$0.00005")
    poor.get_by_text("Keys and terms").click()
    expect(poor).to_contain_text(ask.engy.accounts["poor"].key)
    poor.get_by_role("button", name="Pay in").click()
    expect(poor.locator(".amount")).to_have_text("$1.00005")
    poor.get_by_label("At once").fill("2")
    poor.get_by_role("button", name="Set the limits").click()
    expect(poor).to_contain_text("at once: 2")
    ask.chat("Hello!", key=ask.engy.accounts["poor"].key)
    expect(poor.locator(".amount")).not_to_have_text("$1.00005")
    opened.get_by_role("button", name="Reset").click()
    opened.get_by_role("dialog").get_by_role("button", name="Reset").click()
    expect(opened.locator(".account")).to_have_count(1)
    assert len(ask.engy.journal) == 0


def test_a_scenario_of_ones_own(opened, ask):
    """What is wrong with it is told by line."""
    opened.keyboard.press("3")
    opened.get_by_text("One of your own").click()
    text, begin = opened.get_by_label("Text of the scenario"), opened.get_by_role("button", name="Switch it on")
    text.fill("description: x\nruels: []\n")
    begin.click()
    expect(opened.get_by_role("alert").get_by_text("Did you mean 'rules'?")).to_contain_text("line 2")
    opened.watched.forget("400")
    text.fill("description: x\nrules: [{reply: As you like.}]\n")
    begin.click()
    expect(opened.get_by_role("switch", name="my-own")).to_have_attribute("aria-checked", "true")
    assert ask.chat("Hello!").json()["choices"][0]["message"]["content"] == "As you like."
    own = opened.locator("article", has=opened.get_by_role("switch", name="my-own"))
    expect(opened.locator(".rules")).to_contain_text("used 1 time")
    own.get_by_text("File", exact=True).click()
    # It stays open when the list is drawn anew, and shows what counts.
    for words in ("As you like.", "As you please."):
        text.fill(f"description: x\nrules: [{{reply: {words}}}]\n")
        begin.click()
        expect(opened.locator(".rules")).to_contain_text(words)
        expect(own.locator("pre")).to_contain_text(words)


def test_it_finds_a_mock_that_has_been_started_again(tab, ask):
    """A page that is open all day outlives the mock: the new one knows nothing of its secret."""
    engy = ask.engy
    ask.chat("old")
    tab.goto(f"{engy.origin}/_mock/")
    expect(tab.locator("a.row")).to_contain_text("old")
    port = engy.port
    engy.stop()
    expect(tab.locator(".dot")).to_have_attribute("data-tone", "bad")
    with EngyMock(control=True, port=port) as other:
        Caller(other).chat("new")
        expect(tab.locator("a.row")).to_contain_text("new")
        expect(tab.locator("a.row")).to_have_count(1)
        assert other.origin in tab.url
        tab.goto("about:blank")
    tab.watched.complaints = [text for text in tab.watched.complaints if not re.search("ERR_|403", text)]


def test_it_asks_for_the_token(tab):
    """Q-9: the token of the control API goes into a field, and from there into a header."""
    with EngyMock(control=True, control_token="open-sesame") as engy:
        tab.goto(f"{engy.origin}/_mock/")
        token = tab.locator("input[type=password]")
        token.fill("wrong")
        token.press("Enter")
        expect(token).to_have_value("")
        expect(tab.get_by_text("That is not its token.")).to_be_visible()
        token.fill("open-sesame")
        token.press("Enter")
        expect(tab.locator(".dot")).to_have_attribute("data-tone", "good")
        assert "sesame" not in tab.url
        tab.goto("about:blank")
    tab.watched.forget("401")


def test_answers_come_at_a_pace(opened, ask):
    """The choice is for all answers; time has to run for it, and the events show their gaps."""
    ask.engy.when().reply("one two three four five six")
    ask("GET", "ready")  # the first answer of a mock that has just begun is late anyway
    opened.keyboard.press("2")
    pace = opened.get_by_label("Pace of all answers")
    expect(pace).to_have_value("instant")
    pace.select_option("5")
    expect(opened.locator("#toast")).to_contain_text("time runs")
    assert (ask.engy.settings.pace, ask.engy.clock.waits_for_real()) == (5, True)
    opened.get_by_role("button", name="Send").click()
    opened.get_by_role("link", name=re.compile("exchange 0 has the details")).click()
    gaps = opened.locator(".timeline .gap").all_inner_texts()
    assert len([gap for gap in gaps if gap.startswith("+")]) >= 3
    assert ask("GET", "journal/0")["seconds"] >= 5 / 5
    opened.keyboard.press("2")
    pace.select_option("instant")
    expect(opened.locator("#toast")).to_contain_text("at once")
    assert ask.engy.settings.pace == "instant"


def test_older_exchanges_are_a_click_away(engy, tab):
    """The list begins with the newest; how many there are besides, the page knows."""
    with engy.http_client() as client:
        for number in range(230):
            said = {"model": "glm-5.2", "prompt": str(number), "max_tokens": 1}
            client.post("/v1/completions", json=said, headers={"authorization": f"Bearer {engy.api_key}"})
    tab.goto(f"{engy.origin}/_mock/")
    expect(tab.get_by_text("200 of 230 exchanges", exact=True)).to_be_visible()
    tab.get_by_label("Filter exchanges").fill("no such words")
    expect(tab.get_by_text("0 of 230 exchanges", exact=True)).to_be_visible()
    tab.get_by_label("Filter exchanges").fill("")
    tab.get_by_role("button", name="Show older exchanges").click()
    expect(tab.get_by_text("230 exchanges", exact=True)).to_be_visible()
    expect(tab.get_by_role("button", name="Show older exchanges")).to_be_hidden()
    assert tab.locator(".rows li").last.locator(".number").inner_text() == "0"
