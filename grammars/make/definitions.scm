; Special targets, suffix rules and patterns have no name that anything asks for.
((rule (targets (word) @name) (recipe) @body) @definition.function
  (#not-match? @name "[%$*?]|^\\.(?:[A-Z_]+|[a-z0-9+]{1,4}(?:\\.[a-z0-9+]{1,4})?)$"))
((rule (targets (word) @name)) @definition.function
  (#not-match? @name "[%$*?]|^\\.(?:[A-Z_]+|[a-z0-9+]{1,4}(?:\\.[a-z0-9+]{1,4})?)$"))
(define_directive name: (word) @name) @definition.macro

; `+=` adds to a variable that another line defines; a variable of one target is local to it. The grammar takes a
; conditional behind a rule for a part of its recipe, so all are apart: a rule ends there.
((variable_assignment !target_or_pattern name: (word) @name operator: ["=" ":=" "::=" "?="]) @definition.variable @apart
  (#not-match? @name "\\+$|^\\."))
(shell_assignment name: (word) @name) @definition.variable @apart

(comment) @comment
