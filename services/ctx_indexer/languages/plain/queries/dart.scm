(class_definition name: (identifier) @name) @definition.class
(mixin_declaration (identifier) @name) @definition.trait
(extension_declaration name: (identifier) @name) @definition.impl
(enum_declaration name: (identifier) @name) @definition.enum
(type_alias . (type_identifier) @name) @definition.type
((method_signature (function_signature name: (identifier) @name)) @definition.method . (function_body)? @end)
((method_signature (getter_signature name: (identifier) @name)) @definition.method . (function_body)? @end)
((method_signature (setter_signature name: (identifier) @name)) @definition.method . (function_body)? @end)
((method_signature (constructor_signature name: (identifier) @name)) @definition.method . (function_body)? @end)
((method_signature (factory_constructor_signature . (identifier) @name)) @definition.method . (function_body)? @end)
(program (function_signature name: (identifier) @name) @definition.function . (function_body)? @end)
(program (getter_signature name: (identifier) @name) @definition.function . (function_body)? @end)
(declaration (constructor_signature name: (identifier) @name)) @definition.variable
(declaration (function_signature name: (identifier) @name)) @definition.method
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @definition.variable
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @definition.constant))

; --- references
(comment) @attached
(documentation_comment) @attached
(annotation) @attached
((identifier) @call . (selector (argument_part)))
(unconditional_assignable_selector (identifier) @call)
(library_import (import_specification (configurable_uri) @import))
