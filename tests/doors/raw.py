"""A client that hides nothing: bytes to a socket, and bytes from it."""

import socket
from types import TracebackType
from typing import Self

PATIENCE = 10.0
"""How long a test waits for what must come; only a broken mock makes it wait so long."""


def request(
    path: str = "/v1/x",
    body: bytes = b"",
    *headers: str,
    method: str = "POST",
    version: str = "1.1",
    host: str = "127.0.0.1",
) -> bytes:
    """A request as it stands on the wire; without `Content-Length` if a header names another framing."""
    lines = [f"{method} {path} HTTP/{version}", f"Host: {host}", *headers]
    if not any(line.lower().startswith(("content-length", "transfer-encoding")) for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Raw:
    """One connection."""

    def __init__(self, port: int, *, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._read = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read_until(self, mark: bytes) -> bytes:
        """Everything up to and with the mark."""
        while mark not in self._read:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError(f"the connection ended before {mark!r}: {self._read!r}")
            self._read += data
        end = self._read.index(mark) + len(mark)
        data, self._read = self._read[:end], self._read[end:]
        return data

    def read_exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError(f"the connection ended after {self._read!r}")
            self._read += data
        data, self._read = self._read[:size], self._read[size:]
        return data

    def read_answer(self) -> tuple[bytes, bytes]:
        """Head and body of an answer that declares its length, or is chunked (the chunks as they are)."""
        head = self.read_until(b"\r\n\r\n")
        lower = head.lower()
        if b"transfer-encoding: chunked" in lower:
            return head, self.read_until(b"0\r\n\r\n")
        length = lower.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return head, self.read_exactly(int(length))

    def read_to_end(self) -> tuple[bytes, str]:
        """All that comes, and how the connection ended: `fin` or `reset`."""
        ending = "fin"
        try:
            while data := self.socket.recv(65536):
                self._read += data
        except ConnectionResetError:
            ending = "reset"
        data, self._read = self._read, b""
        return data, ending

    def read_until_quiet(self, seconds: float) -> bytes:
        """All that comes until nothing has come for so long; the connection stays."""
        self.socket.settimeout(seconds)
        try:
            while data := self.socket.recv(65536):
                self._read += data
        except TimeoutError:
            data, self._read = self._read, b""
            return data
        finally:
            self.socket.settimeout(PATIENCE)
        raise EOFError(f"the connection ended after {self._read!r}")

    def leave(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.leave()
