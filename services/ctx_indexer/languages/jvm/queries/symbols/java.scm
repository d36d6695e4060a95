(package_declaration (_) @name) @on.package
(import_declaration) @on.import
(class_declaration name: (_) @name superclass: (superclass (_) @base)? interfaces: (super_interfaces (type_list (_) @base)*)?) @on.class
(record_declaration name: (_) @name parameters: (_) @parameters interfaces: (super_interfaces (type_list (_) @base)*)?) @on.class
(interface_declaration name: (_) @name (extends_interfaces (type_list (_) @base)*)?) @on.class
(enum_declaration name: (_) @name interfaces: (super_interfaces (type_list (_) @base)*)?) @on.class
(annotation_type_declaration name: (_) @name) @on.class
(object_creation_expression type: (_) @base (class_body) @on.class)
(enum_declaration name: (_) @base body: (enum_body (enum_constant body: (class_body) @on.class)))
(method_declaration type: (_) @type name: (_) @name parameters: (_) @parameters) @on.function
(method_declaration (modifiers ["private" "static" "final"] @fixed)) @on.mark
(method_declaration (modifiers "private" @local)) @on.mark
(constructor_declaration (modifiers "private" @local)) @on.mark
(method_declaration type: (_) @declaration !body) @on.mark
(annotation_type_element_declaration type: (_) @type name: (_) @name) @on.function
(constructor_declaration name: (_) @name parameters: (_) @parameters) @on.function
(compact_constructor_declaration name: (_) @name) @on.function
(variable_declarator name: (identifier) @name value: (lambda_expression) @on.function)
(lambda_expression parameters: (_) @parameters) @on.head
(lambda_expression) @on.lambda
(lambda_expression body: [(method_invocation) (object_creation_expression) (identifier)] @on.return)
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @target value: (_)? @value)) @on.assign
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @target value: (_)? @value)) @on.assign
(resource type: (_) @type name: (_) @target value: (_) @value) @on.assign
(catch_formal_parameter (catch_type (_) @type) name: (_) @target) @on.assign
(type_pattern (_) @type (identifier) @target) @on.assign
(record_pattern_component (_) @type (identifier) @target) @on.assign
(instanceof_expression right: (_) @type name: (_) @target) @on.assign
(assignment_expression left: (field_access) @target right: (_) @value) @on.assign
(enum_constant name: (_) @self) @on.assign
(enhanced_for_statement type: (_) @type name: (_) @target) @on.assign
(enhanced_for_statement type: (type_identifier) @_var name: (_) @target value: (_) @value (#eq? @_var "var")) @on.loop
(type_parameter (type_identifier) @target (type_bound . (_) @value)) @on.assign
(type_parameter (type_identifier) @name .) @on.variable
(return_statement (_) @value) @on.return
(explicit_constructor_invocation constructor: (_) @function arguments: (_) @arguments) @on.call
