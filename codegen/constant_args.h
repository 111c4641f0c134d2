// Arguments that are known when the unit is compiled, as constants beside the function that passes them.
//
// A struct of parameters that is written into a call is made on the stack, by code. On small cores both are worth more than flash, where
// a constant takes less than the code would. Whatever struct the kernel takes is made of the same members (ConstantOf in passed.hpp):
//
//   struct Params2 {
//     template <class T> static constexpr T value{.n = 1, .h = 25, .w = 5, .bias = conv_bias};
//   };
//   ...
//   onnxc::conv_windows<4, 4>(onnxc::Share{}, x, w, y, scratch, onnxc::ConstantOf<Params2>{}, onnxc::Epilogue<Relu>{});
#pragma once
#include <string>
#include <vector>

namespace onnxc {

class ConstantArgs {
 public:
  /// An expression that converts to the type of any parameter with these members. Equal members give the same one.
  std::string add(const std::string& members);
  /// An expression that is an array of these elements.
  std::string add_array(const std::string& elements, const std::string& type, std::size_t count);
  /// The definitions, for a namespace in which the names of the members are known.
  std::string definitions() const;

 private:
  std::size_t number_of(const std::string& members);

  std::vector<std::string> members_;
};

}  // namespace onnxc
