"""Reads the routes of a Ruby on Rails application: `config/routes.rb` relies on conventions that no table can list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from lci_py.source.syntax.captures import Captures

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "match", "root"})
_RESOURCES = frozenset({"resources", "resource"})
#: Actions whose routes in a block of `member` or `collection` have no name behind the path.
_CANONICAL = frozenset({"index", "create", "new", "show", "update", "destroy"})
_IRREGULAR = {"people": "person", "children": "child", "news": "news", "series": "series", "media": "medium"}
_DEPTH = 30


class _Around(NamedTuple):
    """The context that enclosing blocks give to a route. `member` and `collection` are the paths in such blocks."""

    path: str = ""
    module: str = ""
    controller: str = ""
    collection: str = ""
    member: str = ""
    nested: bool = False


def rails_routes(
    captured: Captures, add: Callable[[str, str, str, str, int, int], None], actions: Sequence[tuple[str, str, str]]
) -> None:
    """Read the routes of a file, and call `add` for each.

    Args:
        captured: The query matches of the file.
        add: Function that receives a route: kind, name, router, handler, scope and line.
        actions: The actions of resources, from `Registry.actions`.
    """
    reader = _Routes(captured, add, actions)
    for captures in captured.calls:
        if captures.get("callee") and captured.text(captures["callee"][0]) == "draw" and "call" in captures:
            reader.read_block(captures["call"][0], _Around(), 0)


class _Routes:
    def __init__(
        self, captured: Captures, add: Callable[[str, str, str, str, int, int], None],
        actions: Sequence[tuple[str, str, str]],
    ) -> None:  # fmt: skip
        self._captured, self._add, self._actions = captured, add, actions
        self._values: dict[str, str] = {}  # of the variables of loops
        self._concerns: dict[str, Node] = {}

    def read_block(self, node: Node, context: _Around, depth: int) -> None:
        """Read the routes in the block of a call, or in a statement that contains further statements."""
        block = node.child_by_field_name("block") if node.type == "call" else node
        body = (block.child_by_field_name("body") or block) if block is not None else None
        for child in body.named_children if body is not None and depth < _DEPTH else ():
            if child.type == "call":
                self._call(child, context, depth)
            elif child.type in ("if", "unless", "then", "else", "body_statement", "if_modifier", "unless_modifier"):
                self.read_block(child, context, depth + 1)

    def _call(self, node: Node, context: _Around, depth: int) -> None:
        method = node.child_by_field_name("method")
        name = self._captured.text(method) if method is not None else ""
        arguments, options = self._arguments(node)
        if name in _VERBS:
            self._verb(name, node, arguments, options, context)
        elif name in _RESOURCES:
            for argument in arguments:
                self._resources(name, argument, node, options, context, depth)
        elif name in ("member", "collection"):
            path = context.member if name == "member" else context.collection
            self.read_block(node, context._replace(path=path, nested=True), depth + 1)
        elif name == "concern" and arguments:
            self._concerns[arguments[0]] = node
        elif name == "concerns":
            self._read_concerns(arguments, context, depth)
        elif name == "each":
            self._loop(node, context, depth)
        elif name not in ("concern", "direct", "resolve"):
            self.read_block(node, self._block_scope(name, arguments, options, context), depth + 1)

    def _loop(self, node: Node, context: _Around, depth: int) -> None:
        """Read the routes in a loop over constant texts: `%w[a b].each do |name|`."""
        receiver, block = node.child_by_field_name("receiver"), node.child_by_field_name("block")
        parameters = block.child_by_field_name("parameters") if block is not None else None
        variable = self._captured.text(parameters).strip("| ") if parameters is not None else ""
        values = _words(self._captured.text(receiver)) if receiver is not None and "array" in receiver.type else None
        for value in values or [""]:
            if value:
                self._values[variable] = value
            self.read_block(node, context, depth + 1)
            self._values.pop(variable, None)

    def _read_concerns(self, names: list[str], context: _Around, depth: int) -> None:
        for name in names:
            if name in self._concerns:
                self.read_block(self._concerns[name], context, depth + 1)

    def _block_scope(self, name: str, arguments: list[str], options: dict[str, str], context: _Around) -> _Around:
        """The context for routes in a block of `namespace`, `scope` or `controller`, made from the outer context."""
        if name == "namespace" and arguments:
            path, module = options.get("path", arguments[0]), options.get("module", arguments[0])
        elif name == "scope":
            path, module = "/".join(arguments) or options.get("path", ""), options.get("module", "")
        else:
            path, module = "", ""
        controller = arguments[0] if name == "controller" and arguments else context.controller
        return context._replace(
            path=_path(context.path, path), module="/".join(filter(None, (context.module, module))),
            controller=options.get("controller", controller),
            collection=_path(context.collection, path), member=_path(context.member, path),
        )  # fmt: skip

    def _resources(
        self, kind: str, name: str, node: Node, options: dict[str, str], context: _Around, depth: int
    ) -> None:
        plural = kind == "resources"
        controller = options.get("controller") or (name if plural else _plural(name))
        module = "/".join(filter(None, (context.module, options.get("module", ""))))
        collection = _path(context.path, options.get("path", name))
        param = options.get("param", "id")
        member = f"{collection}/:{param}" if plural else collection
        only, without = _words(options.get("only")), _words(options.get("except"))
        for action, verb, rest in self._actions:
            is_routed = (only is None or action in only) and (without is None or action not in without)
            if is_routed and (plural or action != "index"):
                path = collection + rest.replace("/{}", member.removeprefix(collection))
                self._route(verb, path, f"{controller}#{action}", module, node)
        inner = f"{collection}/:{_singular(name)}_{param}" if plural else collection
        inside = _Around(inner, module, controller, collection, member)
        self.read_block(node, inside, depth + 1)
        self._read_concerns(_words(options.get("concerns")) or [], inside, depth)

    def _verb(self, verb: str, node: Node, arguments: list[str], options: dict[str, str], context: _Around) -> None:
        if verb == "root":
            self._route(
                "GET", context.path, options.get("to") or (arguments[0] if arguments else ""), context.module, node
            )
            return
        paths = (
            arguments
            or [key for key in options if "/" in key or (options[key].count("#") == 1 and key not in ("to", "as"))][:1]
        )
        for path in paths:
            target = options.get(path) or options.get("to", "")
            if "(" in target or target.startswith(("->", "lambda", "proc")):
                continue
            controller = options.get("controller") or context.controller
            action = options.get("action", "")
            if target and "#" not in target:
                action, target = target, ""
            if not target and not action:
                words = path.strip("/").split("/")
                action = words[-1].replace("-", "_")
                if not controller and len(words) > 1:
                    controller = "/".join(words[:-1])
            before = {"member": context.member, "collection": context.collection}.get(
                options.get("on", ""), context.path
            )
            canonical = path in _CANONICAL and (context.nested or options.get("on", "") in ("member", "collection"))
            path = "" if canonical and before else path
            methods = _words(options.get("via")) if verb == "match" else [verb]
            for method in methods or [""]:
                self._route(
                    "" if method == "all" else method.upper(), _path(before, path), target or f"{controller}#{action}",
                    "/".join(filter(None, (context.module, options.get("module", "")))), node,
                )  # fmt: skip

    def _route(self, method: str, path: str, target: str, module: str, node: Node) -> None:
        controller, _, action = target.partition("#")
        if not (controller or module) or not re.fullmatch(r"\w+", action):
            return
        whole = controller.lstrip("/") if controller.startswith("/") else "/".join(filter(None, (module, controller)))
        owner = "::".join(_camel(part) for part in whole.split("/"))
        path = re.sub(r"\(\.:format\)$", "", path) or "/"
        title = f"{method} {path}".strip()
        self._add("route", title, "/", f"{owner}Controller.{action}", -1, node.start_point[0] + 1)

    def _arguments(self, node: Node) -> tuple[list[str], dict[str, str]]:
        """(The positional arguments of a call, its named arguments), as texts without quotes and colons."""
        group = node.child_by_field_name("arguments")
        positional: list[str] = []
        options: dict[str, str] = {}
        for child in group.named_children if group is not None else ():
            if child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None:
                    options[self._plain(key)] = self._plain(value)
            elif child.type in ("string", "simple_symbol", "delimited_symbol"):
                positional.append(self._plain(child))
            elif child.type == "identifier" and (bound := self._values.get(self._captured.text(child))):
                positional.append(bound)
        return positional, options

    def _plain(self, node: Node) -> str:
        text = self._captured.text(node)
        if node.type in ("array", "call", "lambda"):
            return text
        if node.type == "identifier":
            return self._values.get(text, text)
        return re.sub(r"#\{([^{}]*)\}", lambda part: self._values.get(part[1], "…"), text.strip("\"':"))


def _path(before: str, path: str) -> str:
    path = path.strip("/")
    return f"{before}/{path}" if path else before


def _words(text: str | None) -> list[str] | None:
    return None if text is None else re.findall(r"\w+", text.removeprefix("%i").removeprefix("%w"))


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _plural(name: str) -> str:
    if name.endswith("y") and name[-2:-1] not in tuple("aeiou"):
        return f"{name[:-1]}ies"
    if name.endswith(("ss", "x", "ch", "sh", "status", "alias", "bus")):
        return f"{name}es"
    return name if name.endswith("s") else f"{name}s"


def _singular(name: str) -> str:
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    for ending, other in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ss", "ss")):
        if name.endswith(ending):
            return name.removesuffix(ending) + other
    return name.removesuffix("s")
