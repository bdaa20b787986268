((source (call target: (identifier) @_if) @condition) (#any-of? @_if "if" "unless" "case" "cond"))
((call target: (identifier) @_def (do_block (call target: (identifier) @_if) @condition))
  (#any-of? @_if "if" "unless" "case" "cond") (#any-of? @_def "defmodule" "defimpl" "defprotocol"))
