(preproc_include path: (string_literal)) @on.import
(using_declaration) @on.import
(namespace_definition name: (_) @name) @on.namespace
(namespace_alias_definition name: (_) @target (_) @value .) @on.assign
(function_definition type: (_)? @type declarator: (function_declarator declarator: (_) @name parameters: (_) @parameters)) @on.function
(function_definition type: (_)? @type declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name parameters: (_) @parameters))) @on.function
(function_definition type: (_)? @type declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name parameters: (_) @parameters)))) @on.function
(function_definition type: (_)? @type declarator: (reference_declarator (function_declarator declarator: (_) @name parameters: (_) @parameters))) @on.function
((function_definition (storage_class_specifier) @local) @on.mark (#eq? @local "static"))
(namespace_definition !name body: (declaration_list [(function_definition) (class_specifier) (struct_specifier)] @local @on.mark))
(namespace_definition !name body: (declaration_list (template_declaration [(function_definition) (class_specifier) (struct_specifier)] @local @on.mark)))
(function_definition (delete_method_clause) @deleted) @on.mark
(field_declaration type: (_)? @type declarator: (function_declarator declarator: (field_identifier) @name parameters: (_) @parameters) @declaration) @on.function
(field_declaration type: (_)? @type declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name parameters: (_) @parameters)) @declaration) @on.function
(field_declaration type: (_)? @type declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name parameters: (_) @parameters))) @declaration) @on.function
(field_declaration type: (_)? @type declarator: (reference_declarator (function_declarator declarator: (field_identifier) @name parameters: (_) @parameters)) @declaration) @on.function
(field_declaration_list (declaration declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters) @declaration) @on.function)
(class_specifier name: (_) @name (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)? body: (_)) @on.class
(struct_specifier name: (_) @name (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)? body: (_)) @on.class
(union_specifier name: (_) @name body: (_)) @on.class
(init_declarator declarator: (identifier) @name value: (lambda_expression) @on.function)
(lambda_expression declarator: (lambda_declarator parameters: (_) @parameters)) @on.head
(lambda_expression) @on.lambda
((type_definition type: [(struct_specifier name: (_) @value) (type_identifier) @value (qualified_identifier) @value (template_type) @value] declarator: (type_identifier) @target) @on.assign (#not-match? @value "^(std::)?(unique|shared|weak)_ptr"))
((type_definition type: [(qualified_identifier) (template_type)] @type declarator: (type_identifier) @target) @on.assign (#match? @type "^(std::)?(unique|shared|weak)_ptr"))
(type_definition type: [(struct_specifier name: (_)) (type_identifier) (qualified_identifier) (template_type)] @type declarator: (pointer_declarator declarator: (type_identifier) @target)) @on.assign
((alias_declaration name: (_) @target type: (_) @value) @on.assign (#not-match? @value "^(std::)?(unique|shared|weak)_ptr|[*]$"))
((alias_declaration name: (_) @target type: (_) @type) @on.assign (#match? @type "^(std::)?(unique|shared|weak)_ptr|[*]$"))
(field_declaration type: (_) @type declarator: [(field_identifier) (pointer_declarator declarator: (field_identifier)) (reference_declarator (field_identifier)) (array_declarator)] @target) @on.assign
(declaration type: (_) @type declarator: [(identifier) (pointer_declarator declarator: (identifier)) (reference_declarator (identifier)) (array_declarator)] @target) @on.assign
(declaration type: (_) @type declarator: (init_declarator declarator: (_) @target value: (argument_list))) @on.assign
(declaration type: (_) @type declarator: (init_declarator declarator: (_) @target value: (initializer_list))) @on.assign
(declaration type: (_) @type declarator: (init_declarator declarator: (_) @target value: (_) @value)) @on.assign
(assignment_expression left: (_) @target right: (_) @value) @on.assign
(for_range_loop type: [(type_identifier) (qualified_identifier)] @type declarator: (_) @target) @on.assign
(for_range_loop type: (placeholder_type_specifier) declarator: (_) @target right: (_) @value) @on.loop
(return_statement (_) @value) @on.return
(declaration type: [(type_identifier) (qualified_identifier) (template_type)] @function declarator: (identifier)) @on.call
(declaration type: [(type_identifier) (qualified_identifier) (template_type)] @function declarator: (init_declarator declarator: (identifier) value: (argument_list) @arguments)) @on.call
(declaration type: [(type_identifier) (qualified_identifier) (template_type)] @function declarator: (init_declarator declarator: (identifier) value: (initializer_list) @arguments)) @on.call
(field_initializer (_) @function (argument_list) @arguments (#set! new "yes")) @on.call
(compound_statement (declaration type: [(type_identifier) (qualified_identifier) (template_type)] @function declarator: (function_declarator declarator: (identifier) parameters: (_) @arguments)) @on.call)
(compound_statement (declaration type: (_) @type declarator: (function_declarator declarator: (identifier) @target)) @on.assign)
