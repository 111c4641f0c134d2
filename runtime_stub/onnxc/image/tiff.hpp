// TIFF, by libtiff 4.5 or later: the first image of the file, in whatever compression and colours the library knows, upright.
#pragma once
#include <cstdarg>

#include <tiffio.h>

#include "rgb_image.hpp"

namespace onnxc::inline ONNXC_ISA::image {

/// The file in memory, as the library reads it.
struct TiffFile {
  Bytes bytes;
  int64_t at = 0;

  static TiffFile& of(thandle_t self) { return *static_cast<TiffFile*>(self); }
  static tmsize_t read(thandle_t self, void* to, tmsize_t count) {
    TiffFile& file = of(self);
    if (file.at >= file.bytes.size || count <= 0) return 0;
    const int64_t n = min_of(count, file.bytes.size - file.at);
    __builtin_memcpy(to, file.bytes.data + file.at, static_cast<std::size_t>(n));
    file.at += n;
    return n;
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t self, toff_t offset, int whence) {
    TiffFile& file = of(self);
    const auto by = static_cast<int64_t>(offset);
    const int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.bytes.size;
    int64_t to = 0;
    if (__builtin_add_overflow(from, by, &to) || to < 0) return static_cast<toff_t>(-1);
    file.at = to;
    return static_cast<toff_t>(to);
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t self) { return static_cast<toff_t>(of(self).bytes.size); }
};

inline int ignore_tiff_message(TIFF*, void*, const char*, const char*, va_list) { return 1; }

/// Where the pixel at (y, x) of the upright image lies in the stored one of width by height.
inline int64_t tiff_source(int orientation, int64_t width, int64_t height, int64_t y, int64_t x) {
  switch (orientation) {
    case ORIENTATION_TOPRIGHT: return y * width + (width - 1 - x);
    case ORIENTATION_BOTRIGHT: return (height - 1 - y) * width + (width - 1 - x);
    case ORIENTATION_BOTLEFT: return (height - 1 - y) * width + x;
    case ORIENTATION_LEFTTOP: return x * width + y;
    case ORIENTATION_RIGHTTOP: return (height - 1 - x) * width + y;
    case ORIENTATION_RIGHTBOT: return (height - 1 - x) * width + (width - 1 - y);
    case ORIENTATION_LEFTBOT: return x * width + (width - 1 - y);
    default: return y * width + x;
  }
}

inline Status read_tiff(TIFF* tiff, RgbImage& image) {
  uint32_t width = 0, height = 0;
  uint16_t extra = 0, *kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) == 0 || TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height) == 0 ||
      !is_allowed(width, height))
    return kBadImage;
  // Colours are wanted as they are stored; said to be multiplied by alpha already, they are not multiplied again.
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &extra, &kinds) != 0 && extra > 0 && kinds[0] == EXTRASAMPLE_UNASSALPHA) {
    uint16_t associated[1] = {EXTRASAMPLE_ASSOCALPHA};
    if (extra == 1) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, associated);
  }
  char message[1024];
  TIFFRGBAImage reader{};
  if (TIFFRGBAImageOK(tiff, message) == 0 || TIFFRGBAImageBegin(&reader, tiff, 1, message) == 0) return kBadImage;
  const int orientation = reader.orientation;
  reader.req_orientation = reader.orientation;  // rows and columns as they are stored
  uint32_t* raster = nullptr;
  Status status = image.heap.allocate(raster, int64_t{width} * height);
  if (!status && TIFFRGBAImageGet(&reader, raster, width, height) == 0) status = kBadImage;
  TIFFRGBAImageEnd(&reader);
  const bool transposed = orientation >= ORIENTATION_LEFTTOP && orientation <= ORIENTATION_LEFTBOT;
  if (!status) status = transposed ? image.allocate(height, width) : image.allocate(width, height);
  for (int64_t y = 0; !status && y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const uint32_t pixel = raster[tiff_source(orientation, width, height, y, x)];
      put_rgb(image.row(y) + 3 * x, TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel));
    }
  }
  image.heap.release(raster);
  return status;
}

inline Status decode_tiff(RgbImage& image, Bytes bytes) {
  TiffFile file{bytes};
  TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return {ONNXC_OUT_OF_MEMORY};
  TIFFOpenOptionsSetErrorHandlerExtR(options, ignore_tiff_message, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_tiff_message, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, tmsize_t{8} * ONNXC_MAX_IMAGE_PIXELS);
  TIFF* const tiff = TIFFClientOpenExt("image", "rm", &file, TiffFile::read, TiffFile::write, TiffFile::seek, TiffFile::close,
                                       TiffFile::size, nullptr, nullptr, options);
  TIFFOpenOptionsFree(options);
  if (tiff == nullptr) return kBadImage;
  const Status status = read_tiff(tiff, image);
  TIFFClose(tiff);
  return status;
}

}  // namespace onnxc::inline ONNXC_ISA::image
