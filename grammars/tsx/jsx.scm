; Beside TypeScript's. <Component/>, but not <div/>
(jsx_opening_element name: (identifier) @callee (#match? @callee "^[A-Z]")) @call
(jsx_self_closing_element name: (identifier) @callee (#match? @callee "^[A-Z]")) @call
(jsx_opening_element name: (_ object: (_) @receiver property: (_) @callee)) @call
(jsx_self_closing_element name: (_ object: (_) @receiver property: (_) @callee)) @call
