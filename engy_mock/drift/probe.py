"""A server over HTTP, asked one thing at a time; nothing is followed, and its certificate has to be right."""

import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from engy_mock.drift.answer import Answer

MAX_BYTES = 16 * 1024 * 1024
SECONDS = 60.0
"""A server that says nothing for so long has fallen silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Where a server is; `prefix` stands before all paths."""

    scheme: str
    host: str
    port: int
    prefix: str

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Its answer to a request; raises OSError if there is none."""
        connection = self._connection()
        try:
            connection.request(method, self.prefix + path, body=body or None, headers=dict(headers))
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            trouble = None
            try:
                data = response.read(MAX_BYTES)
            except http.client.IncompleteRead as error:
                data, trouble = error.partial, "the answer breaks off"
            except ConnectionError:
                data, trouble = b"", "the answer breaks off"
            return Answer(status=response.status, headers=told, body=data, trouble=trouble)
        except http.client.HTTPException as error:
            raise OSError(f"not HTTP: {type(error).__name__}") from None
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self.scheme == "http":
            return http.client.HTTPConnection(self.host, self.port, timeout=SECONDS)
        trust = ssl.create_default_context()
        return http.client.HTTPSConnection(self.host, self.port, timeout=SECONDS, context=trust)
