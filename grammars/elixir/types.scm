; Modules are values: `store = Shop.Store`, and a function that gives one.
(binary_operator left: (identifier) @typed.name operator: "=" right: [(alias) (call)] @typed.value) @typed
(do_block (alias) @typed.result .) @typed
(pair value: (alias) @typed.result) @typed
