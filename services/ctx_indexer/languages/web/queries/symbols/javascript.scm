(function_declaration name: (_) @name parameters: (_) @parameters) @on.function
(generator_function_declaration name: (_) @name parameters: (_) @parameters) @on.function
(method_definition name: (_) @name parameters: (_) @parameters) @on.function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)] @on.function)
(field_definition property: (_) @name value: [(arrow_function) (function_expression)] @on.function)
(pair key: (property_identifier) @name @member value: [(arrow_function) (function_expression)] @on.function)
(assignment_expression
  left: (member_expression object: (member_expression object: (_) @owner property: (property_identifier) @_prototype) property: (_) @name)
  right: (function_expression) @on.function
  (#eq? @_prototype "prototype"))
(assignment_expression left: (member_expression property: (_) @name @member) right: [(arrow_function) (function_expression)] @on.function)
(object (method_definition name: (_) @member) @on.mark)
(method_definition "static" @static) @on.mark
(method_definition "get" @getter) @on.mark
(method_definition "set" @member) @on.mark
(arrow_function parameters: (_) @parameters) @on.head
(arrow_function parameter: (_) @parameters) @on.head
(function_expression parameters: (_) @parameters) @on.head
(function_expression name: (_) @name @own) @on.function
(field_definition property: (_) @name value: (class) @on.class)
(arrow_function) @on.lambda @arrow
(arrow_function body: [(call_expression) (identifier) (new_expression) (member_expression) (await_expression) (parenthesized_expression) (arrow_function) (ternary_expression) (binary_expression)] @on.return)
(function_expression) @on.lambda
(class_declaration name: (_) @name (class_heritage (_) @base)?) @on.class
(class (class_heritage (_) @base)?) @on.class
(variable_declarator name: (identifier) @name value: (class (class_heritage (_) @base)?) @on.class)
(variable_declarator name: [(identifier) (object_pattern) (array_pattern)] @target
  value: [(call_expression) (new_expression) (identifier) (this) (member_expression) (await_expression) (object) (array) (ternary_expression) (binary_expression) (subscript_expression) (string) (number) (parenthesized_expression) (yield_expression) (template_string) (unary_expression) (assignment_expression) (true) (false) (undefined) (null)]? @value) @on.assign
(assignment_expression left: (_) @target right: (_) @value) @on.assign
(field_definition property: (_) @target value: (_) @value) @on.assign
(for_in_statement left: (_) @target right: (_) @value) @on.loop
(return_statement (_) @value) @on.return
(import_statement) @on.import
(export_statement source: (_)) @on.import
(export_specifier name: (_) @value alias: (_) @target) @on.assign
(export_statement "default" declaration: (_ name: (_) @value) (#set! target "default")) @on.assign
(export_statement "default" value: (_) @value (#set! target "default")) @on.assign
(variable_declarator value: (call_expression function: (identifier) @_f arguments: (arguments . (string))) (#eq? @_f "require")) @on.import
(variable_declarator value: (member_expression object: (call_expression function: (identifier) @_f arguments: (arguments . (string)))) (#eq? @_f "require")) @on.import
(variable_declarator value: (await_expression (call_expression function: (import) arguments: (arguments . (string))))) @on.import
