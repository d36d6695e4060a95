(preproc_include path: (string_literal)) @on.import
(function_definition (storage_class_specifier)? @_s type: (_) @type declarator: (function_declarator declarator: (_) @name parameters: (_) @parameters)) @on.function
(function_definition (storage_class_specifier)? @_s type: (_) @type declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name parameters: (_) @parameters))) @on.function
(function_definition (storage_class_specifier)? @_s type: (_) @type declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name parameters: (_) @parameters)))) @on.function
((function_definition (storage_class_specifier) @local) @on.mark (#eq? @local "static"))
(struct_specifier name: (_) @name body: (_)) @on.class
(union_specifier name: (_) @name body: (_)) @on.class
(type_definition type: [(struct_specifier name: (_) @value) (type_identifier) @value] declarator: (type_identifier) @target) @on.assign
(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @on.class
(field_declaration type: (_) @type declarator: (_) @target) @on.assign
(declaration type: (_) @type declarator: [(identifier) (pointer_declarator declarator: (identifier)) (array_declarator)] @target) @on.assign
(declaration type: (_) @type declarator: (init_declarator declarator: (_) @target value: (_) @value)) @on.assign
(assignment_expression left: (_) @target right: (_) @value) @on.assign
(return_statement (_) @value) @on.return
