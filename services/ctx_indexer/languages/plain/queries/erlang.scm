(fun_decl clause: (function_clause name: (atom) @name)) @definition.function
(record_decl name: (atom) @name) @definition.struct
(pp_define lhs: (macro_lhs name: (_) @name)) @definition.macro
(type_alias name: (type_name name: (atom) @name)) @definition.type

; --- references
(comment) @attached
(spec) @attached
(call expr: (atom) @call)
(call expr: (remote fun: (atom) @call))
(import_attribute module: (atom) @import)
(pp_include file: (string) @import)
(pp_include_lib file: (string) @import)
(behaviour_attribute name: (atom) @import)
