(program (binary_operator lhs: (identifier) @name rhs: (function_definition)) @definition.function)
(program (binary_operator lhs: (identifier) @name) @definition.variable)

; --- references
(comment) @attached
(call function: (identifier) @call)
(call function: (namespace_operator rhs: (identifier) @call))
((call function: (identifier) @_library arguments: (arguments . argument: (argument value: (_) @import)))
  (#any-of? @_library "library" "require" "source" "requireNamespace"))
