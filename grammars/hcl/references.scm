; aws_instance.web.id and module.vpc.id: the type of a resource begins with its provider. Variables and locals are no calls.
((expression (variable_expr (identifier) @receiver) . (get_attr (identifier) @callee)) @call
  (#match? @receiver "^(?:module|[a-z0-9]+_\\w+)$"))
; data.aws_ami.ubuntu.id
((expression (variable_expr (identifier) @_data) . (get_attr (identifier) @receiver) . (get_attr (identifier) @callee)) @call
  (#match? @_data "^(?:data|ephemeral)$"))
