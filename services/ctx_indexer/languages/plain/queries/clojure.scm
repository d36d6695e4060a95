((source (list_lit . value: (sym_lit) @_def . value: (sym_lit) @name) @definition.function)
  (#any-of? @_def "defn" "defn-" "defmulti" "defmethod" "deftest" "s/defn" "defspec"))
((source (list_lit . value: (sym_lit) @_def . value: (sym_lit) @name) @definition.macro) (#eq? @_def "defmacro"))
((source (list_lit . value: (sym_lit) @_def . value: (sym_lit) @name) @definition.interface)
  (#any-of? @_def "defprotocol" "definterface"))
((source (list_lit . value: (sym_lit) @_def . value: (sym_lit) @name) @definition.struct)
  (#any-of? @_def "defrecord" "deftype" "defstruct"))
((source (list_lit . value: (sym_lit) @_def . value: (sym_lit) @name) @definition.variable)
  (#any-of? @_def "def" "defonce" "s/def" "declare"))

; --- references
(comment) @attached
((list_lit . value: (sym_lit name: (sym_name) @call)) (#not-match? @call "^(def.*|ns|let|if|fn|do)$"))
((list_lit . value: (kwd_lit) @_require (vec_lit . value: (sym_lit) @import))
  (#any-of? @_require ":require" ":use" ":import"))
