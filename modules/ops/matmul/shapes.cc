// SPDX-License-Identifier: Apache-2.0
// The equation of Einsum and its shape rule: indices are letters, one for each axis; `...` stands for the axes that are
// not named, which broadcast. The same reader serves the shape rule, the launcher and the gradient rule.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_matmul;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::shapes {

/// The axes of one operand of an equation, or of its result: an index for each axis.
struct einsum_term {
  int rank = 0;
  int index[max_rank]{};
};

/// An equation with the shapes of its operands. Letters are indices in alphabetical order, capitals first. The axes of
/// `...` follow. The last of them is the last index, so that they are aligned as in a broadcast.
struct einsum_equation {
  static constexpr int letters = 52;
  static constexpr int indices = letters + max_rank;
  std::vector<einsum_term> operands;
  einsum_term result;
  std::int64_t sizes[indices]{};  ///< size of each index that occurs
  bool occurs[indices]{};
};

constexpr bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
constexpr int index_of_letter(char c) { return c <= 'Z' ? c - 'A' : c - 'a' + 26; }
constexpr char letter_of_index(int index) { return static_cast<char>(index < 26 ? 'A' + index : 'a' + index - 26); }

/// The number of operands of an equation: one more than it has commas.
constexpr std::size_t terms_of(std::string_view equation) {
  std::size_t count = 1;
  for (char c : equation) count += c == ',' ? 1 : 0;
  return count;
}

/// Reads an equation for operands of these shapes. If they do not fit, it calls `refuse(got, wanted, advice)`, which
/// does not return.
template <class Refuse>
class einsum_reader {
 public:
  constexpr einsum_reader(std::string_view text, std::span<const shape> operands, const Refuse& refuse)
      : text_(text), shapes_(operands), refuse_(refuse) {}

  constexpr einsum_equation read() {
    const std::size_t terms = terms_of(text_.substr(0, text_.find("->")));
    if (terms != shapes_.size())
      refuse_(std::to_string(shapes_.size()) + " tensors for " + quoted(),
              std::to_string(terms) + ", one for each term before the arrow", "terms are separated by commas");
    for (std::size_t k = 0; k < terms; ++k) read_operand(k);
    if (at_ < text_.size()) read_result();
    else imply_result();
    check_size();
    return std::move(made_);
  }

 private:
  constexpr std::string quoted() const { return "\"" + std::string(text_) + "\""; }
  std::string location(std::size_t at) const { return " at " + std::to_string(at) + " of " + quoted(); }
  constexpr void refuse_letter() const {
    refuse_("'" + std::string(1, text_[at_]) + "'" + location(at_),
            "letters, commas between the terms, \"...\", one \"->\" before the result, and spaces", "");
  }
  /// True if a word is at the current position; the reader then passes it.
  constexpr bool passes(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  /// A term of an equation: its letters, with -1 for `...`.
  struct letters_of_term {
    std::size_t begin = 0;
    int count = 0;  // of letters
    bool rest = false;
    int letters[max_rank + 1]{};
  };
  constexpr letters_of_term read_letters() {
    letters_of_term term{.begin = at_};
    while (at_ < text_.size() && text_[at_] != ',' && text_.substr(at_, 2) != "->") {
      if (passes(" ")) continue;
      const std::size_t here = at_;
      const bool rest = passes("...");
      if (!rest && !is_letter(text_[at_])) refuse_letter();
      if (rest && term.rest) refuse_("a second \"...\"" + location(here), "one in each term", "");
      if (!rest && term.count == max_rank)
        refuse_("a term of more than 8 letters" + location(term.begin), "at most one for each axis", "");
      term.letters[term.count + (term.rest ? 1 : 0)] = rest ? -1 : index_of_letter(text_[here]);
      if (rest) term.rest = true;
      else ++term.count, ++at_;
    }
    return term;
  }

  /// The indices of a term, of which `axes` stand for `...`.
  constexpr einsum_term indices_of(const letters_of_term& term, int axes) const {
    einsum_term made;
    for (int i = 0; i < term.count + (term.rest ? 1 : 0); ++i) {
      if (term.letters[i] >= 0) made.index[made.rank++] = term.letters[i];
      else
        for (int axis = 0; axis < axes; ++axis) made.index[made.rank++] = einsum_equation::indices - axes + axis;
    }
    return made;
  }

  constexpr void read_operand(std::size_t k) {
    const letters_of_term letters = read_letters();
    const shape& dims = shapes_[k];
    const auto named = [&] { return "tensors[" + std::to_string(k) + "] of shape " + to_string(dims); };
    if (letters.rest ? dims.rank() < letters.count : dims.rank() != letters.count)
      refuse_(named() + " for the term" + location(letters.begin),
              std::string(letters.rest ? "at least " : "") + std::to_string(letters.count) +
                  (letters.count == 1 ? " axis" : " axes") + ", one for each letter",
              letters.rest ? "" : "\"...\" stands for axes without a letter");
    const int axes = dims.rank() - letters.count;
    rest_ = axes > rest_ ? axes : rest_;
    const einsum_term term = indices_of(letters, axes);
    for (int i = 0; i < term.rank; ++i) {
      const int index = term.index[i];
      std::int64_t& size = made_.sizes[index];
      const bool first = !made_.occurs[index], broadcasts = index >= einsum_equation::letters;
      if (!first && size != dims[i] && !(broadcasts && (size == 1 || dims[i] == 1)))
        refuse_("axis " + std::to_string(i) + " of " + named() + ", of size " + std::to_string(dims[i]),
                std::to_string(size) + ", the size that " +
                    (broadcasts ? "this axis of \"...\"" : "'" + std::string(1, letter_of_index(index)) + "'") +
                    " has before it in " + quoted(),
                "");
      if (first || size == 1) size = dims[i];
      made_.occurs[index] = true;
      ++times_[index];
    }
    made_.operands.push_back(term);
    if (k + 1 < shapes_.size()) ++at_;  // the comma
  }

  constexpr void read_result() {
    at_ += 2;  // the arrow
    const letters_of_term letters = read_letters();
    if (at_ < text_.size())
      refuse_(std::string(text_[at_] == ',' ? "a comma" : "a second \"->\"") + location(at_),
              "one result, after the only arrow", "");
    if (!letters.rest && rest_ > 0)
      refuse_("a result without \"...\" in " + quoted() + ", of whose axes an operand has " + std::to_string(rest_),
              "\"...\" in the result as well", "name the axes that are to be added up");
    if (letters.count + rest_ > max_rank) refuse_rank(letters.count + rest_);
    made_.result = indices_of(letters, rest_);
    bool given[einsum_equation::indices]{};
    for (int i = 0; i < made_.result.rank; ++i) {
      const int index = made_.result.index[i];
      if (index >= einsum_equation::letters) continue;
      const auto said = [&] { return "'" + std::string(1, letter_of_index(index)) + "'"; };
      if (!made_.occurs[index])
        refuse_(said() + " in the result of " + quoted() + " alone", "letters that an operand has", "");
      if (given[index]) refuse_(said() + " twice in the result of " + quoted(), "each letter once", "");
      given[index] = true;
    }
  }

  /// Makes the result of an equation without an arrow: the axes of `...`, then the letters that occur once, in
  /// alphabetical order.
  constexpr void imply_result() {
    int rank = rest_;
    for (int index = 0; index < einsum_equation::letters; ++index) rank += times_[index] == 1 ? 1 : 0;
    if (rank > max_rank) refuse_rank(rank);
    for (int axis = 0; axis < rest_; ++axis)
      made_.result.index[made_.result.rank++] = einsum_equation::indices - rest_ + axis;
    for (int index = 0; index < einsum_equation::letters; ++index)
      if (times_[index] == 1) made_.result.index[made_.result.rank++] = index;
  }
  constexpr void refuse_rank(int rank) const {
    refuse_("a result of " + std::to_string(rank) + " axes by " + quoted(), "at most 8", "");
  }

  /// Rejects equations that are too long for gradients. These are calls whose equations have a letter for every axis,
  /// and must fit into an attribute.
  constexpr void check_size() const {
    std::size_t length = shapes_.size() + 1 + static_cast<std::size_t>(made_.result.rank);
    for (const einsum_term& term : made_.operands) length += static_cast<std::size_t>(term.rank);
    int distinct = 0;
    for (bool occurs : made_.occurs) distinct += occurs ? 1 : 0;
    if (length > attr_value::max_text || distinct > einsum_equation::letters)
      refuse_("an equation of " + std::to_string(length) + " letters and signs where every axis has one, " +
                  std::to_string(distinct) + " of them different",
              "at most 127, and 52 different letters", "multiply some of the tensors first");
  }

  std::string_view text_;
  std::span<const shape> shapes_;
  const Refuse& refuse_;
  einsum_equation made_;
  std::size_t at_ = 0;
  int rest_ = 0;  // the most axes that `...` stands for
  int times_[einsum_equation::indices]{};
};

/// Reads the equation of a call for the shapes of its operands.
constexpr einsum_equation einsum_of(const inference& call) {
  std::vector<shape> dims;
  for (const view& x : call.in) dims.push_back(x.dims);
  const auto refuse = [&](const std::string& got, const std::string& wanted, std::string_view advice) {
    call.refuse(got, wanted, advice);
  };
  return einsum_reader(call.attr(place_in(attributes::einsum, "equation")).as_text(), dims, refuse).read();
}

/// Einsum: the result has the sizes of the letters after the arrow.
export constexpr void einsum(inference& call) {
  const einsum_equation equation = einsum_of(call);
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < equation.result.rank; ++i) sizes[i] = equation.sizes[equation.result.index[i]];
  call.give(shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(equation.result.rank))));
}

}  // namespace kerngrad::shapes
