"""Reads registrations from calls and decorators: `path("x/", view)`, `@app.get("/x")`, `router.use("/x", routes)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.frameworks.around import NEUTRAL, VERSION, Around
from lci_py.source.frameworks.texts import (
    MOST_TEXT,
    UNKNOWN,
    http_chain,
    is_inline,
    join_paths,
    method_of,
    part_name,
    reference,
    split,
)
from lci_py.source.text.patterns import lazily
from lci_py.types.record import dataclass
from lci_py.types.source import Registration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tree_sitter import Node

    from lci_py.source.frameworks.around import Arguments, Row
    from lci_py.source.frameworks.registry import Registry
    from lci_py.source.syntax.captures import Captures, Finder

#: What can be mounted: a name, a module, or a call.
_CHILD = lazily(
    r"(?:[&$\w.:>?-]+|require|import)(?:\((?:[^()]|\([^()]*\))*\)(?:\.default)?)?$|['\"][\w./-]+['\"]$|__DIR__"
)
_METHOD = lazily(r"(?i)\b(?:get|post|put|delete|patch|head|options)\b")
_MADE, _GROUPED = lazily(r"(\w+)\(\)\s*$"), lazily(r"[$&\w]+(?:\.|->)(\w+)\((.*)\)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Site:
    """A call that matches a row of the table, with what the row needs."""

    row: Row
    node: Node
    callee: str
    receiver: str
    arguments: Arguments
    decorated: int  # the definition that it decorates, -1 if none
    name: str
    scope: int
    line: int


class Calls:
    """Reads the registering calls of one file."""

    def __init__(
        self, captured: Captures, finder: Finder, caller: Callable[[int], int], rows: Sequence[Row],
        registry: Registry,
    ) -> None:  # fmt: skip
        self._captured, self._finder, self._caller, self._registry = captured, finder, caller, registry
        self._rows: dict[str, list[Row]] = {}
        for row in rows:
            for name in row["names"].split():
                self._rows.setdefault(name, []).append(row)
        self._around = Around(captured, self._rows)
        self._routers: set[str] = set()
        self._bases: dict[int, tuple[str, list[str]]] = {}  # of a definition, what its decorators say: path, versions
        self._members: list[tuple[_Site, str]] = []

    def read(self) -> None:
        """Read all calls that the table lists, and then the calls that pass routers to functions."""
        others: list[tuple[Node, Node]] = []
        for captures in self._captured.calls:
            if captures.get("callee") and "call" in captures:
                node, callee = captures["call"][0], captures["callee"][0]
                rows = self._rows.get(self._captured.text(callee), self._rows.get("*", ()))
                receiver = self._captured.text(captures["receiver"][0]) if rows and captures.get("receiver") else ""
                if not any(self._take(row, node, callee, receiver) for row in rows):
                    others.append((node, callee))
        for node, callee in others if self._routers else ():
            self._pass_on(node, callee)
        for site, path in self._members:
            base, versions = self._bases[self._registry.parent(site.decorated)]
            for version in self._bases.get(site.decorated, ("", []))[1] or versions or [""]:
                for method in self._methods(site):
                    title, at = part_name(method, join_paths(base, path)), (site.scope, site.decorated, site.line)
                    self._registry.note(Registration("route", title, VERSION + version, "", *at))

    def _note(self, kind: str, name: str, router: str, target: str, scope: int, line: int) -> None:
        self._registry.note(Registration(kind, name, router, target, scope, -1, line))

    def _take(self, row: Row, node: Node, callee: Node, receiver: str) -> bool:
        """Add what a call registers, if the row describes the call; returns whether it does."""
        name_node = self._around.decorated_name(node)
        is_other = row["kind"] == "group" or ("decorates" in row) != (name_node is not None)
        if is_other or ("on" in row and not re.fullmatch(row["on"], receiver, re.DOTALL)):
            return False
        arguments = self._around.arguments(node)
        if len(arguments.given) < row.get("least", 0):
            return False
        name = self._around.path(arguments.get(row["name"]), row) if "name" in row else row.get("fixed", "")
        if name is None and row["kind"] == "mount" and len(arguments.given) == 1:
            name = ""  # `app.use(routes)`
        if name is None or ("pattern" in row and not re.match(row["pattern"], name)):
            return False
        if "unassigned" in row and re.fullmatch(r"[$\w.]+", receiver) and self._around.variable_of(node):
            return False  # `x = cache.get("/a", b)`
        decorated = -1 if name_node is None else self._finder.symbol(name_node.start_byte)
        site = _Site(row, node, self._captured.text(callee), receiver, arguments, decorated, name,
                     self._caller(callee.start_byte), callee.start_point[0] + 1)  # fmt: skip
        return bool(getattr(self, f"_{row.get('as', row['kind'])}", self._other)(site))

    def _root(self, site: _Site) -> bool:
        """Add a router that serves the root path, or has a prefix of its own. Returns True."""
        if "target" in site.row:  # the application
            name = self._versioning(site) if "versions" in site.row else site.name
            self._note("base", name, "", site.row["target"], site.scope, site.line)
        elif site.decorated >= 0:
            keywords = site.arguments.named
            name = "" if site.name.startswith("{") or ("path" not in keywords and keywords) else site.name
            self._bases[site.decorated] = name, self._versions(site.row, self._captured.text(site.node))
        elif child := self._around.variable_of(site.node):
            self._routers.add(child)
            self._note(site.row["kind"], site.name, "", child, site.scope, site.line)
        return True

    _base = _root

    def _versioning(self, site: _Site) -> str:
        """The versioning of an application's routes (NestJS): the prefix of versions, and the default versions."""
        text, keywords = site.arguments.get(0), site.arguments.named
        kind = keywords.get("type", "" if text else "URI").rpartition(".")[2].strip()
        prefix = self._around.part(re.sub(r"^false$", "''", keywords.get("prefix", "'v'").strip()))
        in_path = " ".join([prefix, *(self._versions(site.row, text) or [NEUTRAL])])
        said = {"URI": in_path, "HEADER": NEUTRAL, "MEDIA_TYPE": NEUTRAL, "CUSTOM": NEUTRAL}.get(kind, UNKNOWN)
        return UNKNOWN if re.search(r"\.\.\.|\bprefix\s*[,}]", text) else said

    def _versions(self, row: Row, text: str) -> list[str]:
        """The versions that a row's regular expression finds in a text; [] if it does not match."""
        match = re.search(row.get("versions", "$^"), text)
        parts = split(re.sub(r"^\[|\]$", "", (match[1] or UNKNOWN).strip())) if match else ()
        return [NEUTRAL if part.endswith("NEUTRAL") else self._around.part(part) for part in parts]

    def _mount(self, site: _Site) -> bool:
        """Add the mount of a router below another router. Returns whether the call is a mount and nothing else."""
        row, is_assigned = site.row, site.row["child"] == "assigned"
        child = self._around.variable_of(site.node) if is_assigned else site.arguments.get(row["child"])
        if "finds" in row:
            text = re.search(row["finds"], self._captured.text(site.node))
            child = text[1] if text else ""
            child = f"{child}/{child[0]}" if child and "folder" in row else child
        child = re.sub(row["wrapped"], r"\1", child) if "wrapped" in row else child
        if not _CHILD.match(child) or is_inline(child):
            return not is_assigned and "finds" not in row
        prefix, owner = self._around.prefix(site.node, row)
        owner = site.arguments.get(row["parent"]) if "parent" in row else owner
        self._routers.update((child, owner))
        kind = "router" if is_assigned else "override" if site.name and row.get("instead") else "mount"
        self._note(kind, join_paths(prefix, site.name), owner, child, site.scope, site.line)
        if not is_assigned:
            self._note_maker(kind, join_paths(prefix, site.name), owner, child)
        if not is_assigned and "silent" not in row and (target := reference(child.partition("(")[0])):
            self._registry.call("route", target, site.scope, site.line)
        return "finds" not in row

    def _note_maker(self, kind: str, name: str, owner: str, router: str) -> None:
        """Add the function that makes a router, for a variable that is assigned once: `users = users_router(db)`."""
        if not re.fullmatch(r"\w+", router):
            return
        pattern = rb"(?m)^[ \t]*(?:const |let |var )?%s\s*:?=\s*(?:await )?([A-Za-z_][\w.]*)\(" % router.encode()
        matches = list(re.finditer(pattern, self._captured.source))
        if len(matches) == 1:
            start = matches[0].start(1)
            line = self._captured.row(start) + 1
            self._note(kind, name, owner, f"{matches[0][1].decode()}()", self._caller(start), line)

    def _route(self, site: _Site) -> bool:
        prefix, owner = self._around.prefix(site.node, site.row)
        owner = site.arguments.get(site.row["parent"]).rpartition(".")[0] if "parent" in site.row else owner
        verb, _, own = site.name.rpartition(" ") if "verbs" in site.row else ("", "", site.name)
        path = join_paths(prefix, own)
        self._routers.add(owner)
        if site.decorated >= 0:
            if "action" in site.row:  # of a viewset
                path = site.name or self._registry.name(site.decorated)
                is_member = re.search(site.row["action"], self._captured.text(site.node))
                path, owner = f"/{{pk}}/{path}" if is_member else f"/{path}", ""
            if self._registry.parent(site.decorated) in self._bases:
                self._members.append((site, path))
                return True
            answering = self._registry.methods_of_http(site.decorated)  # of a class: Flask-RESTX
            answering = answering or [(method, site.decorated) for method in self._methods(site)]
            for method, symbol in answering:
                self._registry.note(
                    Registration("route", part_name(method, path), owner, "", site.scope, symbol, site.line)
                )
            return True
        for method, text in self._handlers(site):
            child = re.match(site.row["mounts"], text, re.DOTALL) if "mounts" in site.row else None
            if child is not None:
                target = next(part for part in child.groups() if part is not None)
                self._note("mount", path, owner, target.strip(), site.scope, site.line)
            else:
                self._registry.add("route", part_name(verb or method, path), owner, text, site.scope, site.line)
        return True

    def _resources(self, site: _Site) -> bool:
        """Add the routes of all actions of a controller (Laravel). Returns True."""
        prefix, owner = self._around.prefix(site.node, site.row)
        path = join_paths(prefix, site.name)
        parent = site.node.parent
        rest = self._captured.text(parent)[len(self._captured.text(site.node)) :] if parent is not None else ""
        limit = re.match(r"\s*->(only|except)\(([^()]*)\)", rest)
        actions = set(re.findall(r"\w+", limit[2])) if limit else set()
        parameter = "{" + re.sub(r"(?<!s)s$", "", path.rpartition("/")[2].replace("-", "_")) + "}"
        controller = site.arguments.get(site.row["handler"])
        for action, method, more in self._registry.actions():
            skipped = site.callee == "apiResource" and action in ("create", "edit")
            if skipped or (limit and (action in actions) != (limit[1] == "only")):
                continue
            title = part_name(method, path + more.replace("{}", parameter))
            self._registry.add(
                "route", title, owner, self._full_name(f"[{controller}, '{action}']"), site.scope, site.line
            )
        return True

    def _template(self, site: _Site) -> bool:
        """Add a template that code shows by its name. Returns False, since such a call may pass on a router, too."""
        if "outside" in site.row and site.scope >= 0:
            return False
        self._registry.template(site.name, site.row, site.decorated if site.decorated >= 0 else site.scope, site.line)
        return False  # a call like any other

    def _fixture(self, site: _Site) -> bool:
        """Add the fixtures that `usefixtures` names (pytest). Returns True."""
        for text in site.arguments.given:
            self._registry.call("fixture", ("", text.strip("\"'")), site.decorated, site.line)
        return True

    def _other(self, site: _Site) -> bool:
        """Add a listener, a command, an injected function, or the work of a task. Returns whether it is a registration.

        The call that starts a task is a call like any other, for which False is returned.
        """
        row = site.row
        name = site.name or (site.receiver if row["kind"] == "event" else "")
        if site.decorated >= 0:
            name = name or self._captured.text(self._around.decorated_name(site.node) or site.node).replace("_", "-")
            self._registry.note(Registration(row["kind"], name, "", "", site.scope, site.decorated, site.line))
            return True
        text = site.receiver if row["handler"] == "receiver" else site.arguments.get(row["handler"])
        if row["kind"] == "task":  # a call like any other, and no name that a client knows
            text = text.partition("(")[0].removeprefix("new ").removesuffix(".set") + row.get("member", "")
            if target := reference(text):
                self._registry.call("task", target, site.scope, site.line)
            return False
        if row["kind"] == "inject":
            text = text.partition("(")[0]  # of `Depends(repository(Users))`, the function that makes it
        if text:
            self._registry.add(row["kind"], name, "", text, site.scope, site.line)
        return bool(text)

    def _pass_on(self, node: Node, callee: Node) -> None:
        """Add a function that takes a router and registers routes on it: `users.Register(v1.Group("/users"))`."""
        arguments = self._around.arguments(node).given
        for index, text in enumerate(arguments):
            head = re.match(r"[$&\w]+", text)
            if text in self._routers:
                name: str | None = ""
            else:
                name = self._inner_group(text) if head is not None and head[0] in self._routers else None
            if name is not None and head is not None:
                scope, line = self._caller(callee.start_byte), callee.start_point[0] + 1
                self._note("mount", name, head[0], f"{self._captured.text(callee)}({index})", scope, line)

    def _inner_group(self, text: str) -> str | None:
        """The prefix of a group that an argument makes; None if the argument makes no group."""
        match = _GROUPED.match(text)
        rows = self._rows.get(match[1], ()) if match else ()
        row = next((item for item in rows if item["kind"] == "group" or item.get("child") == "assigned"), None)
        return None if row is None or match is None else self._around.path((split(match[2]) or [""])[0], row) or ""

    def _methods(self, site: _Site) -> list[str]:
        """The HTTP methods of a route; [""] for any method."""
        said = site.row.get("method", "")
        if said == "callee":
            return [method_of(site.callee)]
        if said == "receiver":
            match = _MADE.search(site.receiver)
            return [method_of(match[1]) if match else ""]
        words = _METHOD.findall(site.arguments.get(said)) if said else []
        return [word.upper() for word in words] or [site.row.get("default", "")]

    def _handlers(self, site: _Site) -> Iterator[tuple[str, str]]:
        """The handlers of a route, each as (HTTP method, text of the handler)."""
        text = site.arguments.get(site.row["handler"])
        if len(text) > MOST_TEXT:
            text = "function"  # one without a name
        if site.row.get("method") == "chained":
            yield from ((method_of(verb), inner) for verb, inner in http_chain(text))
            return
        if "controller" in site.row:
            text = self._full_name(self._of_group(site.node, text))
        for method in self._methods(site):
            yield method, text

    def _of_group(self, node: Node, text: str) -> str:
        """The handler of a route as text. A bare method name gets the controller of the enclosing group (Laravel)."""
        if not re.fullmatch(r"['\"]\w+['\"]", text):
            return text
        for call in self._around.calls_around(node):
            called = self._around.callee(call)
            before = self._captured.source[call.start_byte : called.start_byte if called else 0]
            if match := re.search(rb"controller\(\s*([\w\\]+::class)\s*\)", before):
                return f"[{match[1].decode()}, {text}]"
        return text

    def _full_name(self, text: str) -> str:
        """A PHP class name with its namespace alias resolved, as `H` after `use App\\Http as H`."""
        head = re.match(r"\[(\w+)\\", text)
        alias = (
            re.search(rb"(?m)^use\s+([\w\\]+)\s+as\s+%s\s*;" % head[1].encode(), self._captured.source)
            if head
            else None
        )
        return f"[\\{alias[1].decode()}{text[1 + len(head[1]) :]}" if alias and head else text
