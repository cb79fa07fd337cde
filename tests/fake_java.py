"""Stands in for ``java ... StanfordCoreNLPServer``: same options, same answers in the same form, and it breaks on demand.

A line with CRASH kills the server, CRASHONCE does so the first time only, HANG never answers, SLOW answers as CoreNLP does
when it runs out of time, ERROR is answered by status 500, LOSE is left out of the answer. ``-Xmx1m`` does not start at all.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

arguments = sys.argv[1:]
options = {arguments[i]: arguments[i + 1] for i in range(len(arguments) - 1) if arguments[i].startswith("-")}
served = dict(line.split(" = ", 1) for line in Path(options["-props"]).read_text(encoding="ascii").splitlines())
context = served["uriContext"]
memory = Path(os.environ["FAKE_JAVA_FOLDER"])
with (memory / "starts").open("a") as log:
    log.write(" ".join([*arguments, f"threads={served['threads']}"]) + "\n")
private = Path(options["-props"]).stat().st_mode & 0o077 == 0 and not any(context in argument for argument in arguments)
if not private:
    sys.exit("Error: others can read the path of the server")
if "-Xmx1m" in arguments:
    sys.exit("Error: Could not reserve enough space for object heap")


def annotate(line: str, begin: int) -> dict[str, Any]:
    words = line.split()
    tokens, at = [], begin
    for word in words:
        units = len(word.encode("utf-16-le")) // 2
        tokens.append(
            {
                "word": word,
                "originalText": word,
                "pos": "NN",
                "characterOffsetBegin": at,
                "characterOffsetEnd": at + units,
                "after": " ",
            }
        )
        at += units + 1
    arcs = [{"dep": "ROOT" if j == 0 else "dep", "governor": j, "dependent": j + 1} for j in range(len(words))]
    return {
        "parse": "(ROOT (NP " + " ".join(f"(NN {word})" for word in words) + "))",
        "basicDependencies": arcs,
        "tokens": tokens,
    }


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, status: int, body: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode("utf-8"))

    def do_GET(self) -> None:
        self.reply(200 if self.path == f"{context}/ready" else 404, "ready")

    def do_POST(self) -> None:
        address = urllib.parse.urlparse(self.path)
        text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
        if address.path != context:
            self.reply(404, "URI not handled")
            return
        properties = json.loads(urllib.parse.parse_qs(address.query)["properties"][0])
        parsing = "parse" in properties.get("annotators", "parse")
        with (memory / "requests").open("a") as log:
            log.write(json.dumps([text.split("\n"), properties]) + "\n")
        if "CRASHONCE" in text and not (memory / "crashed").exists():
            (memory / "crashed").touch()
            os._exit(1)
        if "CRASH " in text and parsing:
            os._exit(1)
        if "HANG" in text and parsing:
            time.sleep(60)
        if "SLOW" in text and parsing:
            self.reply(500, "CoreNLP request timed out. Your document may be too long.")
            return
        if "ERROR" in text and parsing:
            self.reply(500, "java.lang.NullPointerException")
            return
        sentences, begin = [], 0
        for line in text.split("\n"):
            if "LOSE" not in line:
                sentences.append(annotate(line, begin))
            begin += len(line.encode("utf-16-le")) // 2 + 1
        self.reply(200, json.dumps({"sentences": sentences}))


ThreadingHTTPServer(("127.0.0.1", int(served["port"])), Handler).serve_forever()
