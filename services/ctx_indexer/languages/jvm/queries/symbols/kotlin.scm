(package_header (identifier) @name) @on.package
(import_header) @on.import
(class_declaration (type_identifier) @name (primary_constructor)? @parameters (delegation_specifier (_) @base)*) @on.class
(object_declaration (type_identifier) @name (delegation_specifier (_) @base)*) @on.class
(companion_object (type_identifier)? @name) @on.class
(object_literal (delegation_specifier (_) @base)) @on.class
(function_declaration receiver: (_)? @owner (simple_identifier) @name (function_value_parameters) @parameters
  . [(user_type) (nullable_type)]? @type) @on.function
(function_declaration (function_body . [(call_expression) (navigation_expression) (simple_identifier) (elvis_expression)] @on.return .))
(property_declaration (variable_declaration . (simple_identifier) @name) (lambda_literal) @on.function)
(lambda_literal (lambda_parameters) @parameters) @on.head
(lambda_literal) @on.lambda
(lambda_literal (statements) @on.result)
(property_declaration (variable_declaration . (simple_identifier) @target . [(user_type) (nullable_type)]? @type) . [(call_expression) (simple_identifier) (navigation_expression) (callable_reference) (elvis_expression) (as_expression) (string_literal) (integer_literal)]? @value) @on.assign
(property_declaration (variable_declaration . (simple_identifier) @target) (property_delegate (call_expression (call_suffix (annotated_lambda (lambda_literal (statements (_) @value .))))))) @on.assign
(assignment (directly_assignable_expression) @target (_) @value) @on.assign
(enum_entry (simple_identifier) @self) @on.assign
(type_alias (type_identifier) @target (user_type) @value) @on.assign
(type_parameter (type_identifier) @target (user_type) @value) @on.assign
(for_statement (variable_declaration (simple_identifier) @target) . (_) @value) @on.loop
(jump_expression "return" (_) @value) @on.return
(delegation_specifier (constructor_invocation (user_type) @function (value_arguments) @arguments)) @on.call
(constructor_delegation_call) @on.skip
