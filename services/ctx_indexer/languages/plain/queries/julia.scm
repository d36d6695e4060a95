(module_definition name: (identifier) @name) @definition.namespace
(function_definition (signature (call_expression . (_) @name))) @definition.function
(function_definition (signature (where_expression . (call_expression . (_) @name)))) @definition.function
(function_definition (signature (typed_expression . (call_expression . (_) @name)))) @definition.function
(assignment . (call_expression . (_) @name)) @definition.function
(macro_definition (signature (call_expression . (_) @name))) @definition.macro
(struct_definition (type_head [(identifier) @name (binary_expression . (_) @name) (parametrized_type_expression . (_) @name)])) @definition.struct
(abstract_definition (type_head [(identifier) @name (binary_expression . (_) @name)])) @definition.type
(const_statement (assignment . (identifier) @name)) @definition.constant

; --- references
(line_comment) @attached
(block_comment) @attached
(module_definition (block (string_literal) @attached))
(source_file (string_literal) @attached)
(call_expression . (identifier) @call)
(call_expression . (field_expression (identifier) @call .))
(using_statement (_) @import)
(import_statement (_) @import)
