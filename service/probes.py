"""An HTTP server for machines that look after this one: /metrics, /healthz and /readyz.

It runs in threads of its own. What it tells of the service it asks the event loop, so that a loop
that stands still shows as one.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST

ANSWER_S = 2.0  # a loop that doesn't answer within that counts as standing still
CALLER_S = 5.0  # that long a caller may take over its request
CALLERS = 16  # at a time
_PLAIN = "text/plain; charset=utf-8"

Reply = tuple[HTTPStatus, str, bytes]


class ProbesRefused(Exception):
    """The address for metrics can't be listened on."""


class Probes:
    """The HTTP server. text: the metrics, refresh: brings them up to date, in the event loop;
    why_not_ready: empty if the server is, in the event loop too."""

    def __init__(
        self,
        bind: str,
        *,
        text: Callable[[], bytes],
        refresh: Callable[[], None],
        why_not_ready: Callable[[], str],
    ) -> None:
        """Listen. ProbesRefused says what is wrong with the address."""
        self._text, self._refresh, self._why_not_ready = text, refresh, why_not_ready
        self._loop = asyncio.get_running_loop()
        self._http = _listening(bind, self._reply)
        self.port: int = self._http.server_address[1]
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.2,), name="probes", daemon=True
        )
        self._thread.start()

    def _reply(self, path: str) -> Reply:
        """In a thread of the caller's."""
        match path.partition("?")[0]:
            case "/metrics":
                self._ask(self._refresh)  # if it stands still they are as old as that
                return HTTPStatus.OK, CONTENT_TYPE_LATEST, self._text()
            case "/healthz":
                alive = self._ask(lambda: "") is not None
                return _said("" if alive else "the event loop stands still")
            case "/readyz":
                why = self._ask(self._why_not_ready)
                return _said("the event loop stands still" if why is None else why)
            case _:
                text = b"not found; there are /metrics, /healthz and /readyz\n"
                return HTTPStatus.NOT_FOUND, _PLAIN, text

    def _ask(self, what: Callable[[], Any]) -> Any:
        """What it gives in the event loop, or None if that doesn't come to it in time."""

        answer: Future[Any] = Future()

        def give() -> None:
            if answer.set_running_or_notify_cancel():
                answer.set_result(what())

        try:
            self._loop.call_soon_threadsafe(give)
            return answer.result(ANSWER_S)
        except (TimeoutError, RuntimeError):  # the latter from a loop that is closed
            answer.cancel()
            return None

    async def close(self) -> None:
        """Answer nobody any more."""
        await asyncio.to_thread(self._http.shutdown)
        self._http.server_close()


def _said(problem: str) -> Reply:
    if problem:
        return HTTPStatus.SERVICE_UNAVAILABLE, _PLAIN, f"{problem}\n".encode()
    return HTTPStatus.OK, _PLAIN, b"ok\n"


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    reply: Callable[[str], Reply]

    def __init__(self, *args: Any) -> None:
        self._free = threading.BoundedSemaphore(CALLERS)
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that has gone is nothing to tell of."""


class _Http6(_Http):
    address_family = socket.AF_INET6


class _Request(BaseHTTPRequestHandler):
    timeout = CALLER_S
    server_version = "tavolata"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer."""
        assert isinstance(self.server, _Http)  # noqa: S101
        status, kind, body = self.server.reply(self.path)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Not in the log: probes come every few seconds."""


def _listening(bind: str, reply: Callable[[str], Reply]) -> _Http:
    host, _, port = bind.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdigit():
        raise ProbesRefused(f"metrics_bind is {bind!r}; allowed is HOST:PORT")
    kind = _Http6 if ":" in host else _Http
    try:
        http = kind((host, int(port)), _Request)
    except (OSError, OverflowError) as error:
        raise ProbesRefused(f"can't listen on {bind} for metrics: {error}") from error
    http.reply = reply
    return http
