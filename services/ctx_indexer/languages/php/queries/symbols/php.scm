(namespace_definition name: (_) @name !body) @on.package
(namespace_definition name: (_) @name body: (_)) @on.namespace
(namespace_use_declaration) @on.import
(class_declaration name: (_) @name (base_clause (_) @base)? (class_interface_clause (_) @base)*) @on.class
(interface_declaration name: (_) @name (base_clause (_) @base)?) @on.class
(trait_declaration name: (_) @name) @on.class
(enum_declaration name: (_) @name (class_interface_clause (_) @base)?) @on.class
(use_declaration (_) @base) @on.base
(function_definition name: (_) @name parameters: (_) @parameters return_type: (_)? @type) @on.function
(method_declaration name: (_) @name parameters: (_) @parameters return_type: (_)? @type) @on.function
(assignment_expression left: (variable_name) @name right: [(anonymous_function) (arrow_function)] @on.function)
(anonymous_function parameters: (_) @parameters return_type: (_)? @type) @on.head
(arrow_function parameters: (_) @parameters return_type: (_)? @type) @on.head
(anonymous_function) @on.lambda
(arrow_function) @on.lambda
(arrow_function body: (_) @on.return)
(property_declaration type: (_)? @type (property_element name: (_) @target default_value: (_)? @value)) @on.assign
(enum_case name: (_) @self) @on.assign
(assignment_expression left: (_) @target right: [(object_creation_expression) (member_call_expression) (scoped_call_expression) (function_call_expression) (variable_name) (member_access_expression) (clone_expression) (conditional_expression) (scoped_property_access_expression) (string) (integer)] @value) @on.assign
(augmented_assignment_expression left: (_) @target right: (_) @value) @on.assign
(foreach_statement . (_) @value . (variable_name) @target) @on.loop
(return_statement (_) @value) @on.return
