// C++ for a processor: a call of a kernel is a call of a function template.
#pragma once
#include <string>
#include <vector>

#include "codegen/constant_args.h"
#include "codegen/cpp_text.h"
#include "codegen/dialect.h"
#include "compiler/ir/program.h"

namespace onnxc {

class CppDialect : public Dialect {
 public:
  /// `buffer_names`: for each buffer an expression, which is a pointer to its element type, const if it is only read.
  /// `expr_names`: see unit_names.h. `constants`: gets the structs of parameters and lists that are known when the unit is compiled; null:
  /// they are written into the calls. All of them must outlive this object.
  CppDialect(const Program& program, const SymbolNames& symbols, const PerBuffer<std::string>& buffer_names,
             const std::vector<std::string>& expr_names, ConstantArgs* constants = nullptr)
      : program_(program), symbols_(symbols), buffer_names_(buffer_names), expr_names_(expr_names), constants_(constants) {}

  std::string call(const Call& call, bool shared, bool forked) const override;
  std::string pointer(const PointerArg& p, bool forked) const override;

 protected:
  /// `gemm<14, 2, float>`: the function with all its template arguments, without its namespace.
  std::string function(const Call& call) const;
  std::string arguments(const Call& call, bool forked) const;
  const SymbolNames& symbols() const { return symbols_; }

 private:
  const std::string& name_of(BufferId buffer) const { return buffer_names_[buffer]; }
  ElementType element_of(const PointerArg& p) const { return p.as == ElementType::Undefined ? program_[p.buffer].element : p.as; }
  std::string argument(const Arg& arg, bool forked) const;
  std::string own_argument(const Arg& arg, bool forked) const;
  bool is_constant(const Arg& arg) const;
  bool is_constant(const ParamsArg& params) const;
  std::string form_members(const FormArg& form, bool forked) const;
  std::string epilogue(const EpilogueArg& e, bool forked) const;
  std::string params(const ParamsArg& p, bool forked) const;
  std::string template_argument(const TemplateArg& arg) const;

  const Program& program_;
  const SymbolNames& symbols_;
  const PerBuffer<std::string>& buffer_names_;
  const std::vector<std::string>& expr_names_;
  ConstantArgs* constants_;
};

}  // namespace onnxc
