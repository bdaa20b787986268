; Children are left open: with their names, these patterns take seconds to compile.
(parameter name: (simple_identifier) @typed.name name: _ @typed.type) @typed
(lambda_parameter . (simple_identifier) @typed.name .) @typed
(lambda_parameter . (simple_identifier) @typed.name . (_) @typed.type) @typed

(property_declaration name: (_ bound_identifier: (_) @typed.name) . (type_annotation (_) @typed.type)) @typed
(property_declaration (_ bound_identifier: (_) @typed.name) . value: (_) @typed.value) @typed
(property_declaration name: (_ (_ . (simple_identifier) @typed.name))) @typed
(for_statement item: (_ bound_identifier: (_) @typed.name) . collection: (_) @typed.each) @typed
; if let, guard let, while let; case let x as T
(_ bound_identifier: (_) @typed.name "=" . condition: (_) @typed.value) @typed
(_ (_ bound_identifier: (_) @typed.name) "as" . (_) @typed.type) @typed

(_ "func" "->" . (_) @typed.return) @typed
(typealias_declaration name: (_) @typed.alias name: (_) @typed.type) @typed
; A type parameter has the members of its bound.
(type_parameter (type_identifier) @typed.alias name: (_) @typed.type) @typed
