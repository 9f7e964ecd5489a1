// SPDX-License-Identifier: Apache-2.0
// The place of an attribute that a list does not have.
// error: the_list_has_no_attribute_of_this_name
import kerngrad;

inline constexpr kg::attr_spec attrs[] = {{.name = "lambda", .kind = kg::attr_kind::number, .doc = "half the zone"}};

constexpr void infer(kg::inference& call) {
#ifdef TWIN
  call.give({call.attr(kg::place_in(attrs, "lambda")).as_integer()});
#else
  call.give({call.attr(kg::place_in(attrs, "lamda")).as_integer()});
#endif
}
