// ImageDecoder: [bytes] -> [height, width, channels], an image in one of the formats of runtime_stub/onnxc/image. The
// run binds height and width.
#include <fmt/format.h>

#include "compiler/ops/kernel_query.h"

namespace onnxc {
namespace {

std::string pixel_format(const Node& node) {
  const std::string format = node.string("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    node.fail(ErrorKind::Invalid, fmt::format("pixel_format is '{}'; RGB, BGR and Grayscale are allowed", format));
  return format;
}

void infer_image_decoder(Inference& n) {
  if (n.element(0) != ElementType::U8 || n.rank(0) != 1) n.fail(fmt::format("the encoded image is {}, not a list of u8", n.type(0).text()));
  const int64_t channels = pixel_format(n.node()) == "Grayscale" ? 1 : 3;
  const Dim height = n.fresh("height"), width = n.fresh("width");
  n.output(0, ElementType::U8, {height, width, channels});
}

void lower_image_decoder(KernelQuery& l) {
  for (const char* library : {"tiff", "webp", "png", "jpeg", "openjp2"}) l.link(library);
  const View x = l.in(0), y = l.out_address(0, false);
  l.call("decode_image")
      .heap()
      .address(y)
      .binds(l.symbol(0))
      .binds(l.symbol(1))
      .tensor(x)
      .enumerator("PixelFormat", pixel_format(l.node()))
      .emit();
}

}  // namespace

extern const Operator op_ImageDecoder;
const Operator op_ImageDecoder{
    .name = "ImageDecoder", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .infer = infer_image_decoder, .lower = lower_image_decoder};

}  // namespace onnxc
