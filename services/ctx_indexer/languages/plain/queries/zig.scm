(Decl (FnProto function: (IDENTIFIER) @name)) @definition.function
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "enum")))))) @definition.enum
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl))))) @definition.struct
(source_file (Decl (VarDecl variable_type_function: (IDENTIFIER) @name)) @definition.variable)
(TestDecl (STRINGLITERALSINGLE) @name) @definition.function

; --- references
(line_comment) @attached
(doc_comment) @attached
(SuffixExpr variable_type_function: (IDENTIFIER) @call . (FnCallArguments))
(FieldOrFnCall function_call: (IDENTIFIER) @call)
((SuffixExpr (BUILTINIDENTIFIER) @_import (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @import))))
  (#any-of? @_import "@import" "@cImport" "@embedFile"))
