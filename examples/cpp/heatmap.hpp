// Draws M = L + S as coloured cells: red above zero, blue below, white at zero, one scale for all panels.
#ifndef EXAMPLES_HEATMAP_HPP
#define EXAMPLES_HEATMAP_HPP

#include "png.hpp"

#include <cmath>
#include <cstdio>

namespace examples {

// One line of the picture: a method, and pointers to three n x n matrices.
struct Split {
  const char* name;
  const double *m, *l, *s;
};

namespace heatmap {

// Sizes in pixels.
constexpr std::size_t cell = 14, gap = 64, left = 56, top = 60, between = 26, bottom = 26, bar = 18, right = 86;
// Numbers of colours. 2 to 255 are the scale, with 128 for zero; what is not a number is grey.
constexpr std::uint8_t zero = 128, ink = 0, grey = 1, lowest = 2;

// A letter is seven rows of five pixels, the leftmost the highest bit. Only what is written here is here.
struct Glyph {
  char letter;
  std::uint8_t rows[7];
};
constexpr Glyph glyphs[] = {
    {'D', {0x1e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1e}}, {'E', {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f}},
    {'G', {0x0e, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0f}}, {'H', {0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}},
    {'I', {0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}}, {'L', {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f}},
    {'M', {0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11}}, {'N', {0x11, 0x19, 0x19, 0x15, 0x13, 0x13, 0x11}},
    {'R', {0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11}}, {'S', {0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e}},
    {'T', {0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04}}, {'U', {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}},
    {'=', {0x00, 0x00, 0x1f, 0x00, 0x1f, 0x00, 0x00}}, {'+', {0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00}},
    {'-', {0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x00}}, {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}},
    {'0', {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}}, {'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'2', {0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f}}, {'3', {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e}},
    {'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}}, {'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
    {'6', {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}}, {'7', {0x1f, 0x01, 0x02, 0x04, 0x04, 0x08, 0x08}},
    {'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}}, {'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}},
};

enum class Run { across, upwards };

// Text around a middle point; a letter takes six by seven dots of `dot` pixels each.
inline void text(Picture& picture, const std::string& letters, std::size_t x, std::size_t y, std::size_t dot, Run run) {
  const std::size_t half = (6 * letters.size() - 1) * dot / 2, half_height = 7 * dot / 2;
  for (std::size_t at = 0; at < letters.size(); ++at) {
    for (const Glyph& glyph : glyphs) {
      if (glyph.letter != letters[at]) continue;
      for (std::size_t row = 0; row < 7; ++row) {
        for (std::size_t column = 0; column < 5; ++column) {
          if (!(glyph.rows[row] >> (4 - column) & 1)) continue;
          const std::size_t along = (6 * at + column) * dot, down = row * dot;
          if (run == Run::across) {
            picture.fill(x - half + along, y - half_height + down, dot, dot, ink);
          } else {
            picture.fill(x - half_height + down, y + half - along - dot, dot, dot, ink);
          }
        }
      }
    }
  }
}

inline void frame(Picture& picture, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  picture.fill(x - 1, y - 1, width + 2, 1, ink);
  picture.fill(x - 1, y + height, width + 2, 1, ink);
  picture.fill(x - 1, y - 1, 1, height + 2, ink);
  picture.fill(x + width, y - 1, 1, height + 2, ink);
}

// The colours of `denise plot`, from zero outwards.
inline std::array<Colour, 256> palette() {
  constexpr Colour red[5] = {{255, 255, 255}, {248, 200, 182}, {228, 124, 102}, {190, 44, 54}, {108, 12, 34}};
  constexpr Colour blue[5] = {{255, 255, 255}, {186, 212, 236}, {96, 156, 208}, {34, 98, 170}, {10, 44, 100}};
  std::array<Colour, 256> colours{};
  colours[ink] = {40, 40, 40};
  colours[grey] = {154, 154, 154};
  for (int at = lowest; at < 256; ++at) {
    const Colour* side = at < zero ? blue : red;
    const double place = 4 * std::min(std::abs(at - zero) / 126.0, 1.0);
    const int below = std::min(int(place), 3);
    for (std::size_t c = 0; c < 3; ++c) {
      colours[std::size_t(at)][c] =
          std::uint8_t(std::lround(side[below][c] + (place - below) * (side[below + 1][c] - side[below][c])));
    }
  }
  return colours;
}

inline std::uint8_t level(double value, double limit) {
  if (!std::isfinite(value)) return grey;
  return std::uint8_t(std::lround(zero + 126 * std::max(-1.0, std::min(1.0, value / limit))));
}

inline void panel(Picture& picture, const double* values, std::size_t n, std::size_t x, std::size_t y, double limit) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      picture.fill(x + j * cell, y + i * cell, cell, cell, level(values[i * n + j], limit));
    }
  }
  frame(picture, x, y, n * cell, n * cell);
}

}  // namespace heatmap

// A line of panels for each split. The scale of colours ends at +-limit; what lies beyond has the colour of the end.
inline Picture draw(const std::vector<Split>& splits, std::size_t n, double limit) {
  using namespace heatmap;
  const std::size_t side = n * cell, count = splits.size();
  const std::size_t x[3] = {left, left + side + gap, left + 2 * (side + gap)};
  const std::size_t height = count * side + (count - 1) * between;
  Picture picture(x[2] + side + gap / 2 + bar + right, top + height + bottom);
  picture.palette = palette();
  picture.fill(0, 0, picture.width, picture.height, zero);
  const char* const names[3] = {"M", "L", "S"};
  for (std::size_t at = 0; at < 3; ++at) text(picture, names[at], x[at] + side / 2, top - 28, 4, Run::across);
  for (std::size_t line = 0; line < count; ++line) {
    const std::size_t y = top + line * (side + between);
    const double* const matrices[3] = {splits[line].m, splits[line].l, splits[line].s};
    for (std::size_t at = 0; at < 3; ++at) panel(picture, matrices[at], n, x[at], y, limit);
    text(picture, splits[line].name, left / 2, y + side / 2, 2, Run::upwards);
    text(picture, "=", x[1] - gap / 2, y + side / 2, 3, Run::across);
    text(picture, "+", x[2] - gap / 2, y + side / 2, 3, Run::across);
  }
  const std::size_t bar_x = x[2] + side + gap / 2;
  for (std::size_t y = 0; y < height; ++y) {
    picture.fill(bar_x, top + y, bar, 1, level(1 - 2 * double(y) / double(height - 1), 1));
  }
  frame(picture, bar_x, top, bar, height);
  for (int mark = -2; mark <= 2; ++mark) {
    char number[32];
    std::snprintf(number, sizeof number, "%.1f", limit * mark / 2);
    const std::size_t y = top + std::size_t(double(height - 1) * (2 - mark) / 4);
    picture.fill(bar_x + bar, y, 6, 1, ink);
    text(picture, number, bar_x + bar + 44, y, 2, Run::across);
  }
  return picture;
}

}  // namespace examples

#endif  // EXAMPLES_HEATMAP_HPP
