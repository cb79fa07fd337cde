"""The Java process of Stanford CoreNLP: started on a free local port, restarted when it dies, stopped with us.

A request never hangs and never fails silently: it gives the server's answer or raises `ServerFailed`. After a crash the
server is started again and the requests that were under way are repeated one at a time, so that only the request that
kills the server again is blamed.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from treeglot.errors import ParserError
from treeglot.parsers import _watchdog
from treeglot.parsers.base import BackendUnavailable
from treeglot.scratch import ScratchFolder

log = logging.getLogger(__name__)

_MAIN_CLASS = "edu.stanford.nlp.pipeline.StanfordCoreNLPServer"
_LOOPBACK = Path(__file__).parent / "loopback"
"""The folder of a Java class that keeps the server from listening to other machines; its source is beside it."""
_LOOPBACK_OPTIONS = (
    "-Dcom.sun.net.httpserver.HttpServerProvider=treeglot.Loopback",
    "-XX:+IgnoreUnrecognizedVMOptions",  # Java 8 does not know the next one, and does not need it
    "--add-exports=jdk.httpserver/sun.net.httpserver=ALL-UNNAMED",
)
_START_ATTEMPTS = 3
PATIENCE = 15.0
"""Seconds beyond its own limit after which a server that does not answer is taken for hung."""
_LONGEST_REQUEST = 24 * 3600.0
"""The server caps each request's own limit by its global one, so that one is out of the way."""


class ServerFailed(ParserError):
    """One request failed: the server died of it, was too slow, or answered with an error."""

    __module__ = "treeglot.parsers"


class CoreNLPServer:
    """One Java server. ``properties`` are CoreNLP's; ``memory`` is Java's heap limit (``4g``)."""

    def __init__(
        self,
        classpath: Sequence[Path],
        properties: Mapping[str, str],
        *,
        java: str = "java",
        memory: str = "4g",
        threads: int = 1,
        start_timeout: float = 300.0,
    ) -> None:
        self.classpath = tuple(classpath)
        self.properties = dict(properties)
        self.java = java
        self.memory = memory
        self.threads = threads
        self.start_timeout = start_timeout
        self.restarts = 0
        self._peak = 0
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._generation = 0
        self._port = 0
        self._context = ""
        self._folder = ScratchFolder("corenlp")

    @property
    def log_path(self) -> Path:
        return self._folder.path / "server.log"

    def start(self) -> None:
        """Start Java unless it runs, and wait until it answers."""
        with self._lock:
            self._ensure_running()

    def request(self, text: str, properties: Mapping[str, str], *, timeout: float) -> dict[str, Any]:
        """Annotate ``text``. A dead server is started again and the request repeated once, alone."""
        with self._lock:
            self._ensure_running()
            generation = self._generation
        try:
            return self._post(text, properties, timeout)
        except _ServerGone as error:
            log.info("the CoreNLP server is gone (%s); starting it again", error)
            with self._lock:  # held during the second try: nobody else can crash the server under this request
                if generation == self._generation:
                    self._stop()
                    self.restarts += 1
                self._ensure_running()
                try:
                    return self._post(text, properties, timeout)
                except _ServerGone as again:
                    self._stop()
                    self.restarts += 1
                    raise ServerFailed(f"the server died: {again}", remedy="") from None

    def close(self) -> None:
        with self._lock:
            self._stop()
            self._folder.close()

    @property
    def peak_memory(self) -> int:
        """Bytes that the Java process took at most; complete after `close`."""
        return max(self._peak, self._resident_peak())

    @property
    def pid(self) -> int | None:
        """The process to kill in a test of what happens then (the watchdog's; Java ends with it)."""
        return self._process.pid if self._process is not None else None

    # -- one request ---------------------------------------------------------------------------------------------------

    def _post(self, text: str, properties: Mapping[str, str], timeout: float) -> dict[str, Any]:
        sent = {"outputFormat": "json", "timeout": str(int(timeout * 1000)), **properties}
        query = urllib.parse.urlencode({"properties": json.dumps(sent, ensure_ascii=True)})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=timeout + PATIENCE)
        try:
            connection.request(
                "POST", f"{self._context}?{query}", text.encode("utf-8"), {"Content-Type": "text/plain;charset=utf-8"}
            )
            answer = connection.getresponse()
            body = answer.read()
        except TimeoutError:
            raise _ServerGone(f"no answer in {timeout + PATIENCE:.0f} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise _ServerGone(str(error) or type(error).__name__) from None
        finally:
            connection.close()
        if answer.status == 200:
            try:
                result = json.loads(body)
            except ValueError as error:
                raise ServerFailed(f"the server's answer is not JSON: {error}", remedy="") from None
            if isinstance(result, dict):
                return result
            raise ServerFailed("the server's answer has no sentences", remedy="")
        message = " ".join(body.decode("utf-8", errors="replace").split())[:150]
        if answer.status in (401, 403, 404, 405):  # not about this sentence: every other one would fail in the same way
            raise BackendUnavailable(
                f"the server answered {answer.status}: {message}",
                remedy="use the CoreNLP release that treeglot installs",
            )
        if "OutOfMemoryError" in message:
            raise _ServerGone("out of memory")
        if "timed out" in message.lower() or "TimeoutException" in message:
            raise ServerFailed(f"timeout after {timeout:.0f} s", remedy="")
        raise ServerFailed(f"the server answered {answer.status}: {message}", remedy="")

    # -- the process ---------------------------------------------------------------------------------------------------

    def _ensure_running(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        if self._process is not None:
            self._stop()
        reason = ""
        for _ in range(_START_ATTEMPTS):
            reason = self._start()
            if not reason:
                self._generation += 1
                return
            self._stop()
            if "in use" not in reason:
                break
        raise BackendUnavailable(
            f"the CoreNLP server does not start: {reason}",
            remedy=f"check that `{self.java} -version` works (8 or newer) and that {self.memory} of memory is free",
        )

    def _start(self) -> str:
        """Start Java and wait until it answers; return what went wrong, or nothing."""
        properties = self._write_properties("parser.properties", self.properties)
        self._port = _free_port()
        # Requests without the secret path are refused. Other users of the machine can read command lines, so it is in a file.
        self._context = f"/{secrets.token_hex(16)}"
        options = self._write_properties(
            "server.properties",
            {
                "port": str(self._port),
                "uriContext": self._context,
                "threads": str(self.threads),
                "quiet": "true",
                "timeout": str(int(_LONGEST_REQUEST * 1000)),
                "maxCharLength": str(10**9),
                "serverProperties": str(properties),
                "preload": self.properties.get("annotators", "tokenize"),
            },
        )
        command = [self.java, f"-Xmx{self.memory}", "-XX:+ExitOnOutOfMemoryError", "-Djava.net.preferIPv4Stack=true"]
        command += [*_LOOPBACK_OPTIONS, "-cp", ":".join(map(str, (*self.classpath, _LOOPBACK)))]
        command += [_MAIN_CLASS, "-props", str(options)]
        try:
            with self.log_path.open("wb") as stream:
                self._process = subprocess.Popen(
                    [sys.executable, _watchdog.__file__, *command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stream,
                    cwd=self._folder.path,
                    start_new_session=True,  # Ctrl-C is for us; and the whole group can be stopped
                )
        except OSError as error:
            return str(error)
        deadline = time.monotonic() + self.start_timeout
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                return self._last_words()
            if self._answers():
                return ""
            time.sleep(0.1)
        return f"no answer within {self.start_timeout:.0f} s"

    def _write_properties(self, name: str, values: Mapping[str, str]) -> Path:
        """A file of Java properties that nobody else can read."""
        path = self._folder.path / name
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.writelines(f"{key} = {value}\n" for key, value in sorted(values.items()))
        return path

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            connection.request("GET", f"{self._context}/ready")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        lines = self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        telling = [line for line in lines if any(word in line for word in ("Error", "Exception", "error", "rror:"))]
        return " / ".join(line.strip() for line in (telling[:2] or lines[-2:]))[:400] or "it ended without a word"

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.close()  # tells the watchdog
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.returncode < 0:  # the watchdog itself was killed: Java is an orphan of its group
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ValueError):
            self._peak = max(self._peak, int(process.stdout.read() or 0))
        process.stdout.close()

    def _resident_peak(self) -> int:
        """The peak so far of the running Java process, where the system tells (Linux)."""
        if self._process is None:
            return 0
        with contextlib.suppress(OSError, ValueError, IndexError):
            task = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
            for child in task.read_text(encoding="ascii").split():
                for line in Path(f"/proc/{child}/status").read_text(encoding="utf-8").splitlines():
                    if line.startswith("VmHWM:"):
                        return int(line.split()[1]) * 1024
        return 0


class _ServerGone(Exception):
    """The connection failed: the server died, or hangs."""


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
