; A stage, one line of which is its definition: a pattern that reaches to the next stage takes cubic time. One without a
; name is called like its image.
(from_instruction as: (image_alias) @name) @definition.object
(from_instruction !as (image_spec name: (image_name) @name)) @definition.object

(arg_pair name: (_) @name) @definition.variable
(env_pair name: (_) @name) @definition.variable

(comment) @comment
