(declarations (function name: (_) @name) @definition.function)
(declarations (bind name: (_) @name) @definition.function)
(declarations (signature name: (variable) @name) @definition.function)
(data_type name: (_) @name) @definition.type
(newtype name: (_) @name) @definition.type
(type_synomym name: (_) @name) @definition.type
(class name: (_) @name) @definition.interface
(instance name: (_) @name) @definition.impl
(class_declarations (signature name: (variable) @name) @definition.method)
(instance_declarations (function name: (variable) @name) @definition.method)
(instance_declarations (bind name: (variable) @name) @definition.method)

; --- references
(comment) @attached
(haddock) @attached
(pragma) @attached
(apply function: (variable) @call)
(apply function: (qualified id: (variable) @call))
(infix operator: (operator) @call)
(import module: (module) @import)
(import_name variable: (variable) @import)
(import_name type: (name) @import)
