(import_declaration) @on.import
(class_declaration declaration_kind: ["class" "struct" "enum" "actor"] name: (type_identifier) @name (inheritance_specifier inherits_from: (_) @base)*) @on.class
(class_declaration declaration_kind: "extension" name: (_) @owner (inheritance_specifier inherits_from: (_) @base)*) @on.extension
(protocol_declaration name: (type_identifier) @name (inheritance_specifier inherits_from: (_) @base)*) @on.class @declaration
(class_declaration (modifiers (visibility_modifier ["private" "fileprivate"])) @local) @on.mark
(protocol_declaration (modifiers (visibility_modifier ["private" "fileprivate"])) @local) @on.mark
(function_declaration name: (simple_identifier) @name) @on.function @parameters
(function_declaration "->" . (_) @type) @on.head
(function_declaration (modifiers (visibility_modifier ["private" "fileprivate"])) @local) @on.mark
(protocol_function_declaration name: (simple_identifier) @name) @on.function @parameters @declaration
(protocol_function_declaration "->" . (_) @type) @on.head
(init_declaration name: "init" @name) @on.function @parameters
(deinit_declaration "deinit" @name) @on.function
(subscript_declaration "subscript" @name) @on.function @parameters
(subscript_declaration "->" . (_) @type) @on.head
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) (type_annotation (_) @type)? computed_value: (_)) @on.function @getter
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) value: (lambda_literal) @on.function @arrow)
(lambda_literal type: (lambda_function_type (lambda_function_type_parameters) @parameters)) @on.head
(lambda_literal) @on.lambda @arrow
(lambda_literal (statements) @on.result)
(parameter (simple_identifier) @name . ":" [(parameter_modifiers) (type_modifiers)]* . [(dictionary_type) (tuple_type) (function_type) (optional_type [(dictionary_type) (tuple_type) (function_type)])]) @on.variable
(parameter (simple_identifier) @target . ":" [(parameter_modifiers) (type_modifiers)]* . [(user_type) (array_type) (optional_type) (existential_type) (opaque_type) (protocol_composition_type)] @type) @on.assign
(property_declaration name: (pattern bound_identifier: (simple_identifier) @target) . (type_annotation (_) @type)? . value: (_)? @value !computed_value) @on.assign
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) . (type_annotation [(dictionary_type) (tuple_type) (function_type) (optional_type [(dictionary_type) (tuple_type) (function_type)])])) @on.variable
(property_declaration name: (pattern (pattern)) @target . value: (_) @value) @on.assign
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @target) (type_annotation (_) @type)) @on.assign
(assignment target: (directly_assignable_expression (_) @target) result: (_) @value) @on.assign
(if_statement (simple_identifier) @target . "=" . (_) @value) @on.assign
(guard_statement (simple_identifier) @target . "=" . (_) @value) @on.assign
(while_statement (simple_identifier) @target . "=" . (_) @value) @on.assign
(for_statement item: (pattern) @target collection: (_) @value) @on.loop
(catch_block error: (pattern (pattern bound_identifier: (simple_identifier) @target) name: (_) @type)) @on.catch
(switch_pattern (pattern (pattern bound_identifier: (simple_identifier) @name))) @on.variable
(if_statement condition: (pattern bound_identifier: (simple_identifier) @name)) @on.variable
(enum_entry name: (simple_identifier) @self) @on.assign
(typealias_declaration name: (type_identifier) @target "=" . (_) @value) @on.assign
(type_parameter (type_identifier) @target (user_type) @value) @on.assign
(type_parameter . (type_identifier) @name .) @on.variable
(associatedtype_declaration name: (_) @name) @on.variable
(control_transfer_statement "return" result: (_) @value) @on.return
