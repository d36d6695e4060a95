(value_specification (value_name) @name) @definition.function
(type_definition (type_binding name: (_) @name)) @definition.type
(module_definition (module_binding (module_name) @name)) @definition.module
(module_type_definition (module_type_name) @name) @definition.interface

; --- references
(comment) @attached
(open_module module: (module_path) @import)
(include_module_type) @import
