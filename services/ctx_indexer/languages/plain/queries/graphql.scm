(object_type_definition (name) @name) @definition.type
(interface_type_definition (name) @name) @definition.interface
(enum_type_definition (name) @name) @definition.enum
(input_object_type_definition (name) @name) @definition.type
(union_type_definition (name) @name) @definition.type
(scalar_type_definition (name) @name) @definition.type
(object_type_extension (name) @name) @definition.impl
(directive_definition (name) @name) @definition.macro
(operation_definition (name) @name) @definition.function
(fragment_definition (fragment_name) @name) @definition.function

; --- references
(comment) @attached
(description) @attached
(fragment_spread (fragment_name) @call)
(selection_set (selection (field (name) @call)))
