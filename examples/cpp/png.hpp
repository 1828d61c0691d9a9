// Writes pictures as PNG without any library: 256 colours, and data that is stored, not compressed.
#ifndef EXAMPLES_PNG_HPP
#define EXAMPLES_PNG_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace examples {

using Colour = std::array<std::uint8_t, 3>;  // red, green, blue

// Pixels are numbers of colours in the palette.
struct Picture {
  std::size_t width, height;
  std::array<Colour, 256> palette{};
  std::vector<std::uint8_t> pixels;  // row after row

  Picture(std::size_t w, std::size_t h) : width(w), height(h), pixels(w * h, 0) {}

  // What lies outside is left out.
  void fill(std::size_t left, std::size_t top, std::size_t w, std::size_t h, std::uint8_t colour) {
    for (std::size_t y = top; y < std::min(top + h, height); ++y) {
      for (std::size_t x = left; x < std::min(left + w, width); ++x) pixels[y * width + x] = colour;
    }
  }
};

namespace png {

using Bytes = std::vector<std::uint8_t>;

inline void put(Bytes& to, std::uint32_t value) {  // most significant byte first
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(std::uint8_t(value >> shift));
}

inline std::uint32_t crc32(const std::uint8_t* data, std::size_t size) {
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320 : 0);
  }
  return ~crc;
}

inline std::uint32_t adler32(const Bytes& data) {
  std::uint32_t a = 1, b = 0;
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

// A chunk: its length, its name, the data, and a checksum of the last two.
inline void chunk(Bytes& to, const char* name, const Bytes& data) {
  put(to, std::uint32_t(data.size()));
  const std::size_t start = to.size();
  to.insert(to.end(), name, name + 4);
  to.insert(to.end(), data.begin(), data.end());
  put(to, crc32(&to[start], to.size() - start));
}

// A zlib stream of blocks that are stored as they are.
inline Bytes stored(const Bytes& data) {
  Bytes stream{0x78, 0x01};
  constexpr std::size_t most = 65535;
  for (std::size_t at = 0; at < data.size(); at += most) {
    const std::size_t size = std::min(most, data.size() - at);
    stream.push_back(at + size == data.size());  // whether it is the last block
    for (const std::size_t value : {size, ~size}) {
      stream.push_back(std::uint8_t(value));
      stream.push_back(std::uint8_t(value >> 8));
    }
    stream.insert(stream.end(), data.begin() + std::ptrdiff_t(at), data.begin() + std::ptrdiff_t(at + size));
  }
  put(stream, adler32(data));
  return stream;
}

}  // namespace png

// False if the file cannot be written.
inline bool write_png(const std::string& path, const Picture& picture) {
  png::Bytes file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, head, colours, rows;
  png::put(head, std::uint32_t(picture.width));
  png::put(head, std::uint32_t(picture.height));
  head.insert(head.end(), {8, 3, 0, 0, 0});  // 8 bits a pixel, a palette; the rest has no other value here
  for (const Colour& colour : picture.palette) colours.insert(colours.end(), colour.begin(), colour.end());
  for (std::size_t y = 0; y < picture.height; ++y) {
    const auto row = picture.pixels.begin() + std::ptrdiff_t(y * picture.width);
    rows.push_back(0);  // no filter
    rows.insert(rows.end(), row, row + std::ptrdiff_t(picture.width));
  }
  png::chunk(file, "IHDR", head);
  png::chunk(file, "PLTE", colours);
  png::chunk(file, "IDAT", png::stored(rows));
  png::chunk(file, "IEND", {});
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
  out.close();
  return out.good();
}

}  // namespace examples

#endif  // EXAMPLES_PNG_HPP
