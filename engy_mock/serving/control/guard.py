"""Who may use the control API: whoever sits at this machine, but no page of somebody else (Q-7 to Q-9)."""

import hmac
from collections import deque
from urllib.parse import urlsplit

from engy_mock.dialects.admission import check_host
from engy_mock.serving.control.house import Refused
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.seeds import secret
from engy_mock.vocabulary.wire import Call

CONTROL = "X-Engy-Mock-Control"
"""The header that no page can send from elsewhere without asking first; it carries the token, if there is one."""

MAX_PAGES = 64
"""So many copies of the mock's own page can be open; then the oldest has to be loaded again."""

_MARKS = ("sec-fetch-site", "sec-fetch-dest", "sec-fetch-user")
_BODIES = frozenset({"POST", "PUT", "PATCH"})


class Guard:
    """Lets calls in or refuses them.

    `token` is what callers have to show, where one is set. Pages show a secret of their own instead, which `issue`
    makes for each time that the mock's page is served.
    """

    def __init__(self, token: str | None = None) -> None:
        self._token = token
        self._pages: deque[str] = deque(maxlen=MAX_PAGES)

    def issue(self) -> str:
        """A secret for one page."""
        own = secret()
        self._pages.append(own)
        return own

    def secret_for(self, call: Call) -> str:
        """The secret of the page that answers this call; none for one that has yet to show the token.

        Raises Refused for a wrong one.
        """
        if self._token is None:
            return self.issue()
        shown = call.headers.get(CONTROL, "").strip()
        if not shown:
            return ""
        if not _is_same(shown, self._token):
            raise Refused(401, f"the control token is wrong: send it in {CONTROL}")
        return self.issue()

    def check(self, call: Call, allowed_hosts: frozenset[str], *, is_open: bool = False) -> None:
        """Raise Refused unless the call may be done; what is open needs neither header nor token."""
        try:
            check_host(call, allowed_hosts)
        except ApiError as error:
            raise Refused(error.status, error.message) from None
        self._check_page(call)
        if is_open:
            return
        shown = call.headers.get(CONTROL, "").strip()
        if _is_browser(call):
            if not any(_is_same(shown, page) for page in self._pages):
                raise Refused(403, f"pages need the secret of the mock's own page in {CONTROL}")
        elif self._token is not None:
            scheme, _, bearer = call.headers.get("authorization", "").strip().partition(" ")
            shown = bearer.strip() if scheme.lower() == "bearer" else shown
            if not _is_same(shown, self._token):
                raise Refused(401, f"the control token is missing or wrong: send it in {CONTROL}")
        elif not shown:
            raise Refused(403, f"the header {CONTROL} is missing: send it with any value, as {CONTROL}: 1")
        kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
        if call.method in _BODIES and kind != "application/json":
            raise Refused(415, "content type must be application/json")

    def _check_page(self, call: Call) -> None:
        """Raise Refused for a call that a page from elsewhere makes."""
        site, origin = call.headers.get("sec-fetch-site"), call.headers.get("origin")
        is_foreign = site not in (None, "same-origin", "none")
        if origin is not None:
            is_foreign |= urlsplit(origin).netloc.lower() != call.headers.get("host", "").lower()
        if is_foreign:
            raise Refused(403, "the control API is not for pages from elsewhere")


def _is_browser(call: Call) -> bool:
    """Whether a browser has sent this, by what only browsers say of themselves.

    `Sec-Fetch-Mode` alone is none of that: Node's own `fetch` sends it too.
    """
    headers = call.headers
    is_marked = any(name in headers for name in _MARKS)
    return is_marked or "mozilla" in headers.get("user-agent", "").lower()


def _is_same(shown: str, wanted: str) -> bool:
    """Compared in the same time however much of it is right (Q-9)."""
    return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), wanted.encode("utf-8"))
