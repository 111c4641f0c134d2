// Inputs for many runs of a model: what calibration and accuracy are measured on.
//
//   a folder with test_data_set_N, or one such set     one sample each, in the layout of ONNX's backend tests
//   a folder with other .pb files                      one sample each, for a model of one input, in the order of their names
//   FILE.npz                                           arrays that are called like inputs; an array of one more axis than its input has a sample for each index of
//                                                      it. One of the same rank is cut along its first axis, into pieces of the input's extent, or of 1 where that
//                                                      is dynamic
//   FILE.npy                                           the same for a model of one input
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "tools/driver/data_set.h"

namespace onnxc {

class Samples {
 public:
  /// Reads them and checks each: types, ranks, constant extents, one value for each input without initialiser, no NaN and no infinity. `graph`: the imported
  /// model, for the types of its inputs. Throws Error{Io, Invalid, Unsupported} that names the file, with what would do.
  static Samples read(const std::filesystem::path& data, const ModelSummary& model, const Graph& graph);

  std::size_t size() const { return count_; }
  /// The inputs of one run.
  DataSet at(std::size_t sample) const;
  /// How an error names a sample: `images.npz, sample 3`.
  std::string name(std::size_t sample) const;

 private:
  struct Array {
    std::size_t input;
    TensorData tensor;
    std::vector<int64_t> shape;  ///< of a sample
  };
  void add_arrays(const ModelSummary& model, const Graph& graph);
  void check(const Graph& graph) const;

  std::filesystem::path data_;
  std::size_t count_ = 0;
  const ModelSummary* model_ = nullptr;
  std::shared_ptr<const ModelSummary> kept_;
  std::vector<std::filesystem::path> files_;  ///< folders, or .pb files
  std::vector<Array> arrays_;                 ///< otherwise
};

}  // namespace onnxc
