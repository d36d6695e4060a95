(value_definition (let_binding pattern: (value_name) @name)) @definition.function
(type_definition (type_binding name: (_) @name)) @definition.type
(module_definition (module_binding (module_name) @name)) @definition.module
(module_type_definition (module_type_name) @name) @definition.interface
(class_definition (class_binding name: (class_name) @name)) @definition.class
(method_definition name: (method_name) @name) @definition.method
(exception_definition (constructor_declaration (constructor_name) @name)) @definition.type
(external (value_name) @name) @definition.function

; --- references
(comment) @attached
(application_expression function: (value_path (value_name) @call))
(open_module module: (module_path) @import)
(include_module module: (module_path) @import)
