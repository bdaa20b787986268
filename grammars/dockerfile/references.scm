; A stage is called by those that build on it, or copy from it: `--from=` is blanked, so its name is the first path.
(from_instruction (image_spec name: (image_name) @callee)) @call
((copy_instruction . (path) @callee . (path) . (path)) @call (#match? @callee "^[A-Za-z][A-Za-z0-9_-]*$"))
