((element (start_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))) @definition.element
  (#eq? @_id "id"))
((element (start_tag (tag_name) @name)) @definition.element
  (#any-of? @name "html" "head" "body" "main" "header" "footer" "nav" "section" "article" "aside" "form" "table" "template" "dialog"))
(script_element (start_tag (tag_name) @name)) @definition.element
(style_element (start_tag (tag_name) @name)) @definition.element

; --- references
(comment) @attached
((script_element (start_tag (attribute (attribute_name) @_src (quoted_attribute_value (attribute_value) @import))))
  (#eq? @_src "src"))
((element (start_tag (tag_name) @_link (attribute (attribute_name) @_href (quoted_attribute_value (attribute_value) @import))))
  (#eq? @_link "link") (#eq? @_href "href"))
