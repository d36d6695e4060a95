(file_scoped_namespace_declaration name: (_) @name) @on.package
(namespace_declaration name: (_) @name) @on.namespace
(using_directive) @on.import
(class_declaration name: (_) @name (base_list (_) @base)?) @on.class
(struct_declaration name: (_) @name (base_list (_) @base)?) @on.class
(interface_declaration name: (_) @name (base_list (_) @base)?) @on.class
(record_declaration name: (_) @name (parameter_list)? @parameters (base_list (_) @base)?) @on.class
(enum_declaration name: (_) @name) @on.class
(method_declaration returns: (_) @type name: (_) @name parameters: (_) @parameters) @on.function
(method_declaration returns: (_) @type name: (_) @name
  parameters: (parameter_list . (parameter (modifier) @_this type: (_) @extends)) @parameters (#eq? @_this "this")) @on.function
(constructor_declaration name: (_) @name parameters: (_) @parameters) @on.function
(local_function_statement type: (_) @type name: (_) @name parameters: (_) @parameters) @on.function
(method_declaration body: (arrow_expression_clause (_) @on.return))
(local_function_statement body: (arrow_expression_clause (_) @on.return))
(variable_declarator name: (_) @name (lambda_expression) @on.function)
(lambda_expression parameters: (_) @parameters) @on.head
(lambda_expression) @on.lambda
(lambda_expression body: [(invocation_expression) (object_creation_expression) (identifier)] @on.return)
(variable_declaration type: (_) @type (variable_declarator name: (_) @target . [(identifier) (invocation_expression) (object_creation_expression) (member_access_expression) (await_expression) (cast_expression) (as_expression) (conditional_expression) (conditional_access_expression)]? @value)) @on.assign
(variable_declaration type: (_) @type (variable_declarator name: (_) @target . (implicit_object_creation_expression))) @on.assign
(property_declaration type: (_) @type name: (_) @target) @on.assign
(assignment_expression left: [(member_access_expression) (identifier)] @target right: (_) @value) @on.assign
(foreach_statement type: (implicit_type) left: (_) @target right: (_) @value) @on.loop
(foreach_statement type: [(identifier) (qualified_name)] @type left: (_) @target) @on.assign
(declaration_pattern type: (_) @type name: (_) @target) @on.assign
(enum_member_declaration name: (_) @self) @on.assign
(return_statement (_) @value) @on.return
(constructor_initializer ["base" "this"] @function (argument_list) @arguments) @on.call
