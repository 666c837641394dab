"""The bare server that ours is compared with: aiohttp, one handler, an answer captured beforehand.

    python -m tests.benchmarks.bare PORT ANSWER_FILE [--uvloop]

It reads the request's body and sends the captured one: whole, or as a stream with one write per event.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of ours, kept to be said again; more than one piece means a stream."""

    headers: dict[str, str]
    pieces: list[str]

    @classmethod
    def load(cls, path: Path) -> "Answer":
        """Read an answer from its file."""
        return cls(**json.loads(path.read_text("utf-8")))

    def save(self, path: Path) -> None:
        """Write an answer to its file."""
        path.write_text(json.dumps({"headers": self.headers, "pieces": self.pieces}), "utf-8")


def application(answer: Answer) -> web.Application:
    """The least that aiohttp can do to send these bytes."""
    pieces = [piece.encode() for piece in answer.pieces]

    async def whole(request: web.Request) -> web.StreamResponse:
        await request.read()
        return web.Response(body=pieces[0], headers=answer.headers)

    async def stream(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers=answer.headers)
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        await response.write_eof()
        return response

    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_post("/{path:.*}", stream if len(pieces) > 1 else whole)
    return app


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("answer", type=Path)
    parser.add_argument("--uvloop", action="store_true")
    options = parser.parse_args()
    loop = None
    if options.uvloop:
        import uvloop

        loop = uvloop.new_event_loop()
    app = application(Answer.load(options.answer))
    web.run_app(app, host="127.0.0.1", port=options.port, print=None, access_log=None, loop=loop)


if __name__ == "__main__":
    main()
