; inherits: c

(class_interface . "@interface" . (identifier) @name) @definition.class
(class_implementation . "@implementation" . (identifier) @name) @definition.impl
(protocol_declaration . "@protocol" . (identifier) @name) @definition.interface
(method_definition (identifier) @name) @definition.method

; --- references
(message_expression method: (identifier) @call)
