(function_definition name: (identifier) @name) @definition.function
(class_definition name: (identifier) @name) @definition.class
(module (assignment left: (identifier) @name) @definition.variable)
(class_definition body: (block (assignment left: (identifier) @name) @definition.variable))
(type_alias_statement left: (type (identifier) @name)) @definition.type

; --- references
(module . (string) @docstring)
(class_definition body: (block . (string) @docstring))
(function_definition body: (block . (string) @docstring))
(comment) @attached
(decorator) @attached
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(decorator (identifier) @call)
(decorator (attribute attribute: (identifier) @call))
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(import_from_statement name: (dotted_name) @import)
(import_from_statement name: (aliased_import name: (dotted_name) @import))
