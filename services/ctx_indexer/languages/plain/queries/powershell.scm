(function_statement (function_name) @name) @definition.function
(class_statement (simple_name) @name) @definition.class
(class_method_definition (simple_name) @name) @definition.method
(enum_statement (simple_name) @name) @definition.enum

; --- references
(comment) @attached
(command command_name: (command_name) @call)
((command command_name: (command_name) @_import command_elements: (command_elements (generic_token) @import))
  (#any-of? @_import "Import-Module" "import-module"))
