((source (_ target: (identifier) @_if) @condition) (#any-of? @_if "if" "unless" "case" "cond"))
; defmodule A do … end, and defimpl and defprotocol
((call (_ . (alias)) (do_block (_ target: (identifier) @_if) @condition)) (#any-of? @_if "if" "unless" "case" "cond"))
