// SPDX-License-Identifier: Apache-2.0
// ImageDecoder for formats without compression: BMP and the portable maps (PNM).
//
// As the operator is defined, a broken file gives an empty image; an unsupported format is an error that names it.
// Sizes are checked against the available bytes before memory is allocated.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/work_vector.h"
#include "ops/families.h"

namespace max {

namespace {

using Bytes = std::span<const uint8_t>;

// Rows of pixels, each red, green, blue.
struct Image {
  int64_t height, width;
  WorkVector<uint8_t> pixels;
};

constexpr int64_t kColors = 3;

// Memory for an image that `available` bytes describe, at least `bitsPerPixel` for each pixel.
std::optional<Image> makeImage(int64_t height, int64_t width, int64_t bitsPerPixel, size_t available) {
  constexpr int64_t kLargest = 1 << 20;
  if (height < 1 || width < 1 || height > kLargest || width > kLargest) return std::nullopt;
  if (height * width * bitsPerPixel / 8 > static_cast<int64_t>(available)) return std::nullopt;
  return Image{height, width, WorkVector<uint8_t>(static_cast<size_t>(height * width * kColors))};
}

uint32_t littleEndian(Bytes bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= static_cast<uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

// Uncompressed bitmaps of 8 (with a palette), 24 and 32 bits.
struct Bitmap {
  int64_t width, height;
  size_t bits, start, palette;
  bool isTopDown;

  static std::optional<Bitmap> read(Bytes file) {
    constexpr size_t kFileHeader = 14, kSmallestHeader = 40;
    if (file.size() < kFileHeader + kSmallestHeader) return std::nullopt;
    Bitmap bitmap;
    const size_t header = littleEndian(file, 14, 4);
    const auto height = static_cast<int32_t>(littleEndian(file, 22, 4));
    bitmap.width = static_cast<int32_t>(littleEndian(file, 18, 4));
    bitmap.height = height < 0 ? -static_cast<int64_t>(height) : height;
    bitmap.isTopDown = height < 0;
    bitmap.bits = littleEndian(file, 28, 2);
    bitmap.start = littleEndian(file, 10, 4);
    bitmap.palette = kFileHeader + header;
    const uint32_t compression = littleEndian(file, 30, 4);
    const bool isKnown = bitmap.bits == 8 || bitmap.bits == 24 || bitmap.bits == 32;
    if (header < kSmallestHeader || compression != 0 || !isKnown || bitmap.start > file.size()) return std::nullopt;
    return bitmap;
  }
};

std::optional<Image> decodeBitmap(Bytes file) {
  const std::optional<Bitmap> bitmap = Bitmap::read(file);
  if (!bitmap) return std::nullopt;
  const Bytes content = file.subspan(bitmap->start);
  std::optional<Image> image =
      makeImage(bitmap->height, bitmap->width, static_cast<int64_t>(bitmap->bits), content.size());
  if (!image) return std::nullopt;
  const size_t bytes = bitmap->bits / 8, width = static_cast<size_t>(bitmap->width);
  const size_t rowBytes = (width * bytes + 3) / 4 * 4, height = static_cast<size_t>(bitmap->height);
  if (rowBytes * (height - 1) + width * bytes > content.size()) return std::nullopt;
  uint8_t* out = image->pixels.data();
  WorkCounter work;
  for (size_t row = 0; row < height; ++row) {
    const uint8_t* from = content.data() + (bitmap->isTopDown ? row : height - 1 - row) * rowBytes;
    for (size_t i = 0; i < width; ++i, out += kColors, work.pass(4)) {
      const uint8_t* color = from + i * bytes;
      if (bytes == 1) {
        const size_t entry = bitmap->palette + 4 * size_t{from[i]};
        if (entry + 4 > bitmap->start) return std::nullopt;
        color = file.data() + entry;
      }
      for (size_t k = 0; k < kColors; ++k) out[k] = color[kColors - 1 - k];  // blue comes first
    }
  }
  return image;
}

// The header of a portable map: numbers between white space and comments.
class MapReader {
 public:
  explicit MapReader(Bytes file) : file_(file), at_(2) {}

  std::optional<int64_t> number() {
    while (at_ < file_.size() && (isSpace(file_[at_]) || file_[at_] == '#'))
      if (work_.pass(); file_[at_++] == '#')
        while (at_ < file_.size() && file_[at_] != '\n') ++at_, work_.pass();
    constexpr int64_t kMost = 1 << 24;
    int64_t value = 0;
    const size_t first = at_;
    for (; at_ < file_.size() && file_[at_] >= '0' && file_[at_] <= '9'; ++at_) {
      value = value * 10 + (file_[at_] - '0');
      if (value > kMost) return std::nullopt;
    }
    return at_ == first ? std::nullopt : std::optional(value);
  }
  // Bits of a text need no white space between them.
  std::optional<int64_t> bit() {
    while (at_ < file_.size() && isSpace(file_[at_])) ++at_, work_.pass();
    if (at_ == file_.size() || (file_[at_] != '0' && file_[at_] != '1')) return std::nullopt;
    return file_[at_++] - '0';
  }
  // The data after the single white space that ends the header.
  Bytes content() const { return at_ < file_.size() ? file_.subspan(at_ + 1) : Bytes(); }

 private:
  static bool isSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  Bytes file_;
  size_t at_;
  WorkCounter work_;
};

uint8_t scaled(int64_t value, int64_t most) { return static_cast<uint8_t>(std::min(value, most) * 255 / most); }

// P1 to P3 are texts, P4 to P6 binary: bits, grey values, colours.
std::optional<Image> decodeMap(Bytes file) {
  const int kind = file[1] - '0';
  const bool isText = kind <= 3, isBits = kind % 3 == 1, isColor = kind % 3 == 0;
  MapReader reader(file);
  const auto width = reader.number(), height = reader.number();
  const auto most = isBits ? std::optional<int64_t>(1) : reader.number();
  if (!width || !height || !most || *most < 1 || *most > 255) return std::nullopt;
  const int64_t channels = isColor ? kColors : 1, bits = isBits ? 1 : 8 * channels;
  const Bytes content = reader.content();
  std::optional<Image> image = makeImage(*height, *width, isText ? 8 * channels : bits, content.size() + 1);
  if (!image) return std::nullopt;
  const size_t rowBytes = static_cast<size_t>(isBits ? (*width + 7) / 8 : *width * channels);
  if (!isText && rowBytes * static_cast<size_t>(*height) > content.size()) return std::nullopt;
  uint8_t* out = image->pixels.data();
  WorkCounter work;
  for (int64_t row = 0; row < *height; ++row) {
    const uint8_t* line = isText ? nullptr : content.data() + static_cast<size_t>(row) * rowBytes;
    for (int64_t i = 0; i < *width * channels; ++i, work.pass(4)) {
      int64_t value = 0;
      if (isText) {
        const auto number = isBits ? reader.bit() : reader.number();
        if (!number) return std::nullopt;
        value = *number;
      } else {
        value = isBits ? line[i / 8] >> (7 - i % 8) & 1 : line[i];
      }
      const uint8_t level = isBits ? (value ? 0 : 255) : scaled(value, *most);  // a bit of 1 is black
      for (int64_t k = 0; k < kColors / channels; ++k) *out++ = level;
    }
  }
  return image;
}

struct Format {
  std::string_view name, magic;
  size_t offset;
};

// Formats that are recognised but not decoded.
constexpr Format kOthers[] = {
    {"JPEG", "\xff\xd8\xff", 0},
    {"PNG", "\x89PNG", 0},
    {"JPEG 2000", "jP  ", 4},
    {"JPEG 2000", "\xff\x4f\xff\x51", 0},
    {"WebP", "WEBP", 8},
    {"TIFF", std::string_view("II*\0", 4), 0},
    {"TIFF", std::string_view("MM\0*", 4), 0},
    {"GIF", "GIF8", 0},
};

bool holds(Bytes file, const Format& format) {
  return file.size() >= format.offset + format.magic.size() &&
         std::memcmp(file.data() + format.offset, format.magic.data(), format.magic.size()) == 0;
}

std::optional<Image> decode(const Node& node, Bytes file) {
  for (const Format& format : kOthers)
    require(!holds(file, format), MAX_STATUS_UNIMPLEMENTED, node.description(), ": images in the format ", format.name,
            " are not supported; only BMP and PNM are");
  if (file.size() < 3) return std::nullopt;
  if (file[0] == 'B' && file[1] == 'M') return decodeBitmap(file);
  if (file[0] == 'P' && file[1] >= '1' && file[1] <= '6') return decodeMap(file);
  return std::nullopt;
}

// ITU-R 601 luma in 16-bit fixed point.
uint8_t luma(const uint8_t* rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

std::vector<Ref<Tensor>> imageDecoder(const Node& node, std::span<const Tensor* const> inputs) {
  const Tensor& file = *inputs[0];
  const std::optional<Image> image = decode(node, {file.as<uint8_t>(), static_cast<size_t>(file.count())});
  const std::string format = node.attributes.getString("pixel_format", "RGB");
  const bool isGray = format == "Grayscale";
  const int64_t channels = isGray ? 1 : kColors;
  if (!image) return {Tensor::allocate(DType::UInt8, {0, 0, channels})};
  Ref<Tensor> result = Tensor::allocate(DType::UInt8, {image->height, image->width, channels});
  auto* out = static_cast<uint8_t*>(result->mutableData());
  const bool isBgr = format == "BGR";
  WorkCounter work;
  for (size_t i = 0; i < image->pixels.size(); i += kColors) {
    work.pass(4);
    const uint8_t* rgb = image->pixels.data() + i;
    if (isGray)
      *out++ = luma(rgb);
    else
      for (size_t k = 0; k < kColors; ++k) *out++ = rgb[isBgr ? kColors - 1 - k : k];
  }
  return {result};
}

const OpRow kRows[] = {{"", "ImageDecoder", {}, nullptr, imageDecoder}};

}  // namespace

std::span<const OpRow> imageDecoderOps() { return kRows; }

}  // namespace max
