; Modules are values: `store = Shop.Store`, and a function that gives one.
(_ left: (identifier) @typed.name operator: "=" right: [(alias) (call)] @typed.value) @typed
((pair key: (_) @_do value: (alias) @typed.result) @typed (#match? @_do "^do:"))
