([(attribute_item) (inner_attribute_item)] @condition (#match? @condition "^#!?\\[\\s*cfg\\s*\\("))
