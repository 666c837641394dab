"""The service as an aiohttp application, for whoever runs aiohttp's servers already."""

from aiohttp import web

from engy_mock.serving.connections import handler_options
from engy_mock.serving.shell import Shell


def application(shell: Shell) -> web.Application:
    """An application with one route for everything.

    Deadlines for heads, the cap on connections and refusals of what is not HTTP stay with the server that
    runs it.
    """
    app = web.Application(handler_args={"handler_cancellation": True, **handler_options(shell.limits)})
    app.router.add_route("*", "/{path:.*}", shell.__call__, expect_handler=_leave_it_to_the_shell)

    async def break_off(_: web.Application) -> None:
        shell.abandon()

    app.on_shutdown.append(break_off)
    return app


async def _leave_it_to_the_shell(_: web.Request) -> None:
    """Say nothing: whether to go on is decided where the body is read."""
