((assignment_expression left: [(scalar (varname) @typed.name) (variable_declaration variable: (scalar (varname) @typed.name))]
  right: (_) @typed.value) @typed (#not-eq? @typed.value "shift"))
; An attribute gives what its default makes: has cache => sub { Cache->new }, has cache => (default => sub { … }).
((ambiguous_function_call_expression function: (_) @_has
  arguments: (_ (anonymous_subroutine_expression body: (block (expression_statement (_) @typed.result) .)))) @typed
  (#eq? @_has "has"))
((ambiguous_function_call_expression function: (_) @_has arguments: (_ (_ (list_expression (autoquoted_bareword) @_default
  . (anonymous_subroutine_expression body: (block (expression_statement (_) @typed.result) .)))))) @typed
  (#eq? @_has "has") (#any-of? @_default "default" "builder"))
