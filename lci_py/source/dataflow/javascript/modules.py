"""Lowers JavaScript's imports and exports, and TypeScript's namespaces and enumerations, to constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import EXPORT, NEW, PLAIN, STAR
from lci_py.source.dataflow.javascript.expressions import Expressions
from lci_py.source.dataflow.javascript.scopes import CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import


#: Functions of AMD, if nothing in the file binds their names.
_DEFINERS = frozenset({b"define", b"require", b"requirejs"})


class Modules(Expressions):
    """Lowers imports, exports, namespaces and enumerations."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        super().__init__(source, places, imports)
        self._module_object = 0  # the object of the TypeScript namespace around
        self._handlers.update(
            {
                "import_statement": self._import,
                "import_alias": self._import_alias,
                "export_statement": self._export,
                "enum_declaration": self._enum,
                "internal_module": self._namespace,
                "module": self._namespace,
            }
        )

    def _call(self, node: Node) -> int:
        callee = node.child_by_field_name("function")
        if callee is not None and callee.type == "identifier":
            name = self._source[callee.start_byte : callee.end_byte]
            if name in _DEFINERS and not self._is_bound(name.decode()) and self._define(node, name == b"define"):
                return 0
        return super()._call(node)

    def _define(self, node: Node, defines: bool) -> bool:
        """Lower AMD's `define("name", ["a"], function (a) {})` or `require(["a"], …)`; False for other calls."""
        flow, line = self.flow, node.start_point[0] + 1
        group = node.child_by_field_name("arguments")
        passed = [child for child in group.named_children if child.type != "comment"] if group is not None else []
        if defines and len(passed) > 1 and passed[0].type == "string":
            passed = passed[1:]
        names = ["require", "exports", "module"]
        if len(passed) > 1 and passed[0].type == "array":
            names = [self._text(child).strip("\"'`") for child in passed[0].named_children if child.type != "comment"]
            passed = passed[1:]
        elif not defines or len(passed) != 1:
            return False
        factory = self._value(passed[0])
        if passed[0].type == "object":
            flow.copy(self._exports_node(), factory)
            return True
        module = flow.value(NEW, PLAIN) if "module" in names else 0
        of_names = {"exports": self._exports_node() if "exports" in names else 0, "module": module, "require": 0}
        arguments = [
            (number, of_names[name] if name in of_names else self._import_node(name))
            for number, name in enumerate(names)
        ]
        result = flow.call(self._scope, factory, line, arguments)
        if defines:
            flow.copy(self._exports_node(), result)
            flow.copy(self._exports_node(), flow.load(module, "exports"))
        for rest in passed[1:]:  # what `require` calls when a module is not there
            self._value(rest)
        return True

    def _import(self, node: Node) -> int:
        source = node.child_by_field_name("source")
        for clause in node.named_children:
            if clause.type == "import_require_clause":
                source = clause.child_by_field_name("source")
            if source is None or clause.type not in ("import_clause", "import_require_clause"):
                continue
            module = self._text(source).strip("\"'` ")
            for child in clause.named_children:
                if child.type == "identifier":
                    name = "default" if clause.type == "import_clause" else ""
                    self._bind_import(child, module, name)
                elif child.type == "namespace_import" and child.named_children:
                    self._bind_import(child.named_children[0], module, "")
                elif child.type == "named_imports":
                    for part in child.named_children:
                        imported = part.child_by_field_name("name")
                        if imported is not None:
                            alias = part.child_by_field_name("alias")
                            self._bind_import(alias or imported, module, self._text(imported))
        return 0

    def _bind_import(self, name: Node, module: str, imported: str) -> None:
        target = self.flow.bind(self.flow.module, self._text(name))
        self.flow.copy(target, self._import_node(module, imported))

    def _import_alias(self, node: Node) -> int:
        """Lower TypeScript's `import a = B.C`."""
        parts = node.named_children
        if len(parts) > 1:
            value = 0
            for name in self._text(parts[-1]).split("."):
                value = self.flow.load(value, name) if value else self.flow.use(self._scope, name)
            self.flow.copy(self.flow.bind(self._scope, self._text(parts[0])), value)
        return 0

    def _export(self, node: Node) -> int:
        declaration, source = node.child_by_field_name("declaration"), node.child_by_field_name("source")
        default = next((child for child in node.children if child.type == "default"), None)
        if declaration is not None:
            value = self._exported_declaration(node, declaration)
            if default is not None:
                self._export_as("default", value)
            return value
        module = self._text(source).strip("\"'` ") if source is not None else ""
        inner = node.child_by_field_name("value")
        if default is not None:
            self._export_as("default", self._direct(inner, default))
            return 0
        for child in node.children:
            if child.type == "export_clause":
                self._export_names(child, module, source is not None)
            elif child.type == "namespace_export" and child.named_children:
                self._export_as(self._text(child.named_children[0]), self._import_node(module))
            elif child.type == "*":
                index = self._imports.get((module, "*"), -1)
                if index >= 0:
                    self.flow.row(STAR, index)
            elif child.type == "=":  # TypeScript's `export = x`
                self.flow.copy(self._exports_node(), self._value(node.named_children[-1]))
        return 0

    def _exported_declaration(self, node: Node, declaration: Node) -> int:
        decorators = [child for child in node.children if child.type == "decorator"]
        if decorators and declaration.type in CLASSES:
            name = declaration.child_by_field_name("name")
            value = self._make_class(declaration, name, decorators)
            if name is not None:
                self.flow.copy(self.flow.bind(self._scope, self._text(name)), value)
        else:
            value = self._value(declaration)
        if self._module_object:
            for name in _names(declaration):
                text = self._text(name)
                self.flow.put(self._module_object, text, self.flow.use(self._scope, text))
        return value

    def _export_names(self, clause: Node, module: str, elsewhere: bool) -> None:
        for child in clause.named_children:
            name = child.child_by_field_name("name")
            if name is None:
                continue
            text = self._text(name)
            value = self._import_node(module, text) if elsewhere else self.flow.use(self.flow.module, text)
            self._export_as(self._text(child.child_by_field_name("alias") or name), value)

    def _export_as(self, name: str, value: int) -> None:
        if value:
            self.flow.row(EXPORT, self.flow.string(name), value)

    # --- TypeScript -----------------------------------------------------------------------------------------------

    def _enum(self, node: Node) -> int:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None:
            self.flow.copy(self.flow.bind(self._scope, self._text(name)), self.flow.value(NEW, PLAIN))
        for child in body.named_children if body is not None else ():
            self._value(child.child_by_field_name("value"))
        return 0

    def _namespace(self, node: Node) -> int:
        """Lower `namespace A.B {}` to an object whose members are its exports; several declarations may add to it."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None or name.type == "string":
            return 0
        flow = self.flow
        namespace = flow.value(NEW, PLAIN)
        head, *rest = self._text(name).split(".")
        if rest:
            outer = flow.value(NEW, PLAIN)
            flow.copy(flow.bind(self._scope, head), outer)
            for part in rest[:-1]:
                inner = flow.value(NEW, PLAIN)
                self.flow.put(outer, part, inner)
                outer = inner
            self.flow.put(outer, rest[-1], namespace)
        else:
            flow.copy(flow.bind(self._scope, head), namespace)
        before = self._scope, self._variables, self._module_object
        latest, self._latest = self._latest, {}
        self._scope = self._variables = flow.scope(self._scope, self._function)
        self._module_object = namespace
        for child in body.named_children:
            self._value(child)
        self._scope, self._variables, self._module_object = before
        self._latest = latest
        return 0


def _names(declaration: Node) -> list[Node]:
    """The nodes of the names that an exported declaration binds."""
    name = declaration.child_by_field_name("name")
    if name is not None:
        return [name]
    names = [
        child.child_by_field_name("name") for child in declaration.named_children if child.type == "variable_declarator"
    ]
    return [name for name in names if name is not None and name.type == "identifier"]
