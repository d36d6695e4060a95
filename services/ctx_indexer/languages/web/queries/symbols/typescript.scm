(function_declaration name: (_) @name parameters: (_) @parameters return_type: (_)? @type) @on.function
(function_signature name: (_) @name @declaration parameters: (_) @parameters return_type: (_)? @type) @on.function
(generator_function_declaration name: (_) @name parameters: (_) @parameters) @on.function
(method_definition name: (_) @name parameters: (_) @parameters return_type: (_)? @type) @on.function
(interface_body (method_signature name: (_) @name @declaration parameters: (_) @parameters return_type: (_)? @type) @on.function)
(object_type (method_signature name: (_) @name @declaration @member parameters: (_) @parameters return_type: (_)? @type) @on.function)
(abstract_method_signature name: (_) @name @declaration parameters: (_) @parameters return_type: (_)? @type) @on.function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)] @on.function)
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)] @on.function)
(pair key: (property_identifier) @name @member value: [(arrow_function) (function_expression)] @on.function)
(assignment_expression left: (member_expression property: (_) @name @member) right: [(arrow_function) (function_expression)] @on.function)
(object (method_definition name: (_) @member) @on.mark)
(method_definition "static" @static) @on.mark
(method_definition "get" @getter) @on.mark
(method_definition "set" @member) @on.mark
(arrow_function parameters: (_) @parameters return_type: (_)? @type) @on.head
(arrow_function parameter: (_) @parameters) @on.head
(function_expression parameters: (_) @parameters return_type: (_)? @type) @on.head
(function_expression name: (_) @name @own) @on.function
(public_field_definition name: (_) @name value: (class) @on.class)
(arrow_function) @on.lambda @arrow
(arrow_function body: [(call_expression) (identifier) (new_expression) (member_expression) (await_expression) (parenthesized_expression) (arrow_function) (ternary_expression) (binary_expression) (as_expression) (non_null_expression)] @on.return)
(function_expression) @on.lambda
(class_declaration name: (_) @name (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)]*)?) @on.class
(abstract_class_declaration name: (_) @name (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)]*)?) @on.class
(class (class_heritage (extends_clause value: (_) @base))?) @on.class
(variable_declarator name: (identifier) @name value: (class (class_heritage (extends_clause value: (_) @base))?) @on.class)
(interface_declaration name: (_) @name @declaration (extends_type_clause (_) @base)*) @on.class
(enum_declaration name: (_) @name) @on.class
(internal_module name: (identifier) @name) @on.namespace
(module name: (identifier) @name) @on.namespace
(variable_declarator name: [(identifier) (object_pattern) (array_pattern)] @target type: (_)? @type
  value: [(call_expression) (new_expression) (identifier) (this) (member_expression) (await_expression) (object) (array) (ternary_expression) (binary_expression) (subscript_expression) (string) (number) (as_expression) (non_null_expression) (satisfies_expression) (parenthesized_expression) (yield_expression) (template_string) (unary_expression) (assignment_expression) (true) (false) (undefined) (null)]? @value) @on.assign
(assignment_expression left: (_) @target right: (_) @value) @on.assign
(public_field_definition name: (_) @target type: (_)? @type value: (_)? @value) @on.assign
(interface_body (property_signature name: (_) @target type: (_) @type) @on.assign)
(type_alias_declaration name: (_) @target value: (_) @value) @on.assign
(type_parameter name: (_) @target constraint: (_) @value) @on.assign
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
