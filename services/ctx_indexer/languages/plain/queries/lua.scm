(function_declaration name: (_) @name) @definition.function
(assignment_statement (variable_list . name: (_) @name .) (expression_list . value: (function_definition) .)) @definition.function
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name))) @definition.variable)
(chunk (assignment_statement (variable_list . name: (_) @name)) @definition.variable)
(field name: (identifier) @name value: (function_definition)) @definition.function

; --- references
(comment) @attached
(function_call name: (identifier) @call)
(function_call name: (dot_index_expression field: (identifier) @call))
(function_call name: (method_index_expression method: (identifier) @call))
((function_call name: (identifier) @_require arguments: (arguments . (string content: (string_content) @import)))
  (#any-of? @_require "require" "dofile" "loadfile"))
