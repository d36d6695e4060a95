(message (message_name) @name) @definition.struct
(enum (enum_name) @name) @definition.enum
(service (service_name) @name) @definition.interface
(rpc (rpc_name) @name) @definition.method

; --- references
(comment) @attached
(rpc (message_or_enum_type) @call)
(import path: (string) @import)
