(package_statement name: (package) @name) @section.module
(subroutine_declaration_statement name: (bareword) @name) @definition.function
(source_file (expression_statement (assignment_expression left: (variable_declaration variable: (_) @name))) @definition.variable)

; --- references
(comment) @attached
(pod) @attached
(function_call_expression function: (_) @call)
(method_call_expression method: (_) @call)
(ambiguous_function_call_expression function: (_) @call)
(use_statement module: (package) @import)
