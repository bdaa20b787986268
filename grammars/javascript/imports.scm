; import a from "m" takes what "m" calls `default`; import * as a from "m" names the module, import "m" nothing.
(import_statement (import_clause (identifier) @import.alias @import.default) source: (_) @import.module) @import
(import_statement (import_clause (namespace_import (_) @import.alias)) source: (_) @import.module) @import
(import_statement (import_clause (named_imports
  (import_specifier name: _ @import.name alias: (_)? @import.alias))) source: (_) @import.module) @import
(import_statement . source: (_) @import.module) @import

; export {a} from "m", export * from "m", export * as a from "m"
(export_statement (export_clause
  (export_specifier name: _ @import.name alias: _? @import.alias)) source: (_) @import.module) @import
(export_statement "*" @import.name source: (_) @import.module) @import
(export_statement (namespace_export (_) @import.alias) source: (_) @import.module) @import

; const a = require("m"), const {a, b: c} = require("m"), const a = require("m").b
(variable_declarator name: (identifier) @import.alias
  value: (_ function: (_) @_require arguments: (_ . (string) @import.module .))
  (#eq? @_require "require")) @import
(variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @import.name
    (object_assignment_pattern left: (_) @import.name)
    (pair_pattern key: (_) @import.name value: (identifier) @import.alias)])
  value: (_ function: (_) @_require arguments: (_ . (string) @import.module .))
  (#eq? @_require "require")) @import
(variable_declarator name: (identifier) @import.alias
  value: (_
    object: (_ function: (_) @_require arguments: (_ . (string) @import.module .))
    property: (_) @import.name)
  (#eq? @_require "require")) @import
; require("m")(x), require("m").f(x), f(require("m")), x = require("m"), {a: require("m")}, require("m");
(call_expression function: (_ function: (_) @_require arguments: (_ . (string) @import.module .))
  (#eq? @_require "require")) @import
(call_expression function: (_ object: (_ function: (_) @_require arguments: (_ . (string) @import.module .)))
  (#eq? @_require "require")) @import
(arguments (call_expression function: (_) @_require arguments: (_ . (string) @import.module .))
  (#eq? @_require "require")) @import
(assignment_expression right: (_ function: (_) @_require arguments: (_ . (string) @import.module .))
  (#eq? @_require "require")) @import
(pair value: (_ function: (_) @_require arguments: (_ . (string) @import.module .))
  (#eq? @_require "require")) @import
(expression_statement (call_expression function: (_) @_require arguments: (_ . (string) @import.module .))
  (#eq? @_require "require")) @import
; import("m")
(call_expression function: (import) arguments: (_ . (string) @import.module)) @import
; define(["a", "b"], function (a, b) {}), define("name", ["a"], (a) => {}), require(["a"], function (a) {})
(call_expression function: (identifier) @_define arguments: (_ (array) @import.listed . (_ parameters: (_) @import.names))
  (#any-of? @_define "define" "require" "requirejs")) @import
(call_expression function: (identifier) @_define arguments: (_ (array) @import.listed . (identifier))
  (#any-of? @_define "define" "require" "requirejs")) @import
