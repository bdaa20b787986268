"""The texts that tell coding agents about lci. docs/agents.md quotes both."""

from __future__ import annotations

#: What an agent reads with every task: at most 250 tokens.
TEXT = """\
## Search this repository with lci

Run `lci` in the shell before `rg`, `grep` or reading whole files. Its index keeps itself fresh.

- A question, issue, trace: `lci explore "how are expired sessions removed"` shows the code.
- Places only: `lci search "expired sessions" -n 5`. Is this code there already? `lci similar -`.
- A pasted message: `lci grep -F 'connection reset'`. Its words: `lci search -m bm25 "reset" -n 5`.
- A name: `lci def NAME`, `lci show NAME` (its body; also an id, FILE:LINE), `lci refs NAME`.
- Calls: `lci callers NAME`, `lci callees NAME`, `lci path FROM TO`. What a change affects: `lci affected`.
- A file, a folder: `lci outline PATH`.

`--max-tokens 1500` bounds the answer of any command.
"0 callers" proves nothing: look at `lci refs NAME` before you call code unused.
Do not read a file to find a definition in it, do not search again for what lci has shown, do not edit `.lci/`.
"""

#: What an agent reads when it wants to know more.
TASKS = """\
## lci by task

| task | command |
|---|---|
| all that a question needs, in one answer | `lci explore "how are expired sessions removed"` |
| what is behind a stack trace or an issue; a change | `lci explore - < trace.txt`, `lci explore --diff` |
| find code by what it does | `lci search "where are expired sessions removed" -n 5` |
| find how parts work together | `lci search -m multiview "who retries a failed upload" -n 5` |
| find a pasted message or log line | `lci search -m bm25 "connection reset by peer" -n 5` |
| list definitions by kind, name and place | `lci search -m symbolic 'kind:class name:*Store path:src/**'` |
| every line with a text, or a regular expression | `lci grep -F 'items[0]' src`, `lci grep 'retry_\\w+'` |
| where a name is defined | `lci def SessionStore` |
| the body of a definition, or of a result by its id | `lci show Session.close`, `lci show 5f1c0a7be2d94c18` |
| what is around a line; some lines | `lci show src/pool.py:120`, `lci show src/pool.py:80-120` |
| only how to call it | `lci show 'parse_*' --signature` |
| what a file defines; a map of a folder | `lci outline src/pool.py`, `lci outline src --max-tokens 1500` |
| every place that uses a name | `lci refs parse_config`, `lci refs Session.close --role call` |
| who calls it; what it calls | `lci callers Session.close`, `lci callees Session.close` |
| how one function reaches another | `lci path main Session.close` |
| what a change affects; the tests to run | `lci affected`, `lci affected main --paths` |
| code like this, also code that is not there yet | `lci similar Session.close`, `lci similar -` |
| names with several definitions | `lci conflicts 'Socket*'` |

All of them take `--json`; `--lang`, `--path` and `--exclude` narrow the answer. Exit code 0: results; 1: none; 2: the
command line is wrong, and one line on stderr says how; 3: there is no index, `lci index` makes it.
"""
