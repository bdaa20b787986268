; Names are those that expressions use: aws_instance.web, data.aws_ami.ubuntu, var.region, module.vpc, local.tags.
(config_file (body (block . (identifier) @_block
    . [(string_lit (template_literal) @parent) (identifier) @parent]
    . [(string_lit (template_literal) @name) (identifier) @name]
    (block_start) @body) @definition.object
  (#eq? @_block "resource")))
(config_file (body (block . (identifier) @parent . [(string_lit (template_literal) @name) (identifier) @name]
    . (block_start) @body) @definition.variable
  (#eq? @parent "variable")))
(config_file (body (block . (identifier) @parent . [(string_lit (template_literal) @name) (identifier) @name]
    . (block_start) @body) @definition.property
  (#eq? @parent "output")))
(config_file (body (block . (identifier) @parent . [(string_lit (template_literal) @name) (identifier) @name]
    . (block_start) @body) @definition.module
  (#eq? @parent "module")))
(config_file (body (block . (identifier) @parent . (block_start)
    (body (attribute . (identifier) @name) @definition.variable))
  (#eq? @parent "locals")))

; Other blocks: data and ephemeral of Terraform, source of Packer, target of Buildx, job of Nomad.
(config_file (body (block . (identifier) @parent . [(string_lit (template_literal) @name) (identifier) @name]
    . (block_start) @body) @definition.object))
(config_file (body (block . (identifier) @parent
    . [(string_lit (template_literal) @parent) (identifier) @parent]
    . [(string_lit (template_literal) @name) (identifier) @name]
    . (block_start) @body) @definition.object))

((config_file (body (block (body (attribute . (identifier) @_name
    (expression (literal_value (string_lit (template_literal) @docstring))))))))
  (#eq? @_name "description"))

(comment) @comment
