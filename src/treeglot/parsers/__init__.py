"""Parsers: text or tokens in, trees out.

`open_parser` opens one of the backends (Stanford CoreNLP, Stanza, benepar, spaCy, UDPipe, or files that were parsed
elsewhere), `Parser.parse` parses sentences, `parse_file` parses files in parallel and can be interrupted, `available` says
what is installed. Nothing of a backend is imported before it is used.
"""

from treeglot.parsers.base import BackendUnavailable, Parser, ParserSpec, failure
from treeglot.parsers.complete import complete
from treeglot.parsers.driver import ParseSummary, parse_file
from treeglot.parsers.registry import BackendInfo, ModelInfo, available, open_parser

__all__ = [
    "BackendInfo",
    "BackendUnavailable",
    "ModelInfo",
    "ParseSummary",
    "Parser",
    "ParserSpec",
    "available",
    "complete",
    "failure",
    "open_parser",
    "parse_file",
]
