// As much of std::mdspan as denise.hpp looks at, for compilers that have none yet; with others this is std::mdspan.
#ifndef TESTS_MDSPAN_HPP
#define TESTS_MDSPAN_HPP

#include <cstddef>
#if __has_include(<version>)
#include <version>
#endif

#if defined(__cpp_lib_mdspan)

#include <mdspan>

namespace md {
using std::extents;
using std::layout_left;
using std::layout_right;
using std::layout_stride;
using std::mdspan;
constexpr const char* whose = "std::mdspan";
}  // namespace md

#else

#include <array>

namespace md {

constexpr const char* whose = "a stand-in for std::mdspan";

// Values are for the extents that are not known at compile time, which are those of the greatest size.
template <typename Index, std::size_t... sizes>
class extents {
 public:
  using index_type = Index;
  static constexpr std::size_t rank() noexcept { return sizeof...(sizes); }
  constexpr extents() noexcept = default;
  template <typename... Values>
  constexpr explicit extents(Index first, Values... others) noexcept {
    constexpr std::size_t known[] = {sizes...};
    const Index values[] = {first, static_cast<Index>(others)...};
    for (std::size_t r = 0, next = 0; r < rank(); ++r) {
      if (known[r] == static_cast<std::size_t>(-1)) sizes_[r] = values[next++];
    }
  }
  constexpr Index extent(std::size_t at) const noexcept { return sizes_[at]; }

 private:
  std::array<Index, sizeof...(sizes)> sizes_{static_cast<Index>(sizes)...};
};

// What the layouts have in common: a stride for every index.
template <typename Extents, bool exhaustive>
class strided {
 public:
  static constexpr bool is_always_exhaustive() noexcept { return exhaustive; }
  template <typename... Indices>
  constexpr std::size_t operator()(Indices... indices) const noexcept {
    const std::size_t at[] = {static_cast<std::size_t>(indices)...};
    std::size_t sum = 0;
    for (std::size_t r = 0; r < Extents::rank(); ++r) sum += at[r] * strides_[r];
    return sum;
  }

 protected:
  std::array<std::size_t, Extents::rank()> strides_{};
};

struct layout_right {
  template <typename Extents>
  struct mapping : strided<Extents, true> {
    constexpr mapping(const Extents& sizes = {}) noexcept {
      std::size_t stride = 1;
      for (std::size_t r = Extents::rank(); r-- > 0; stride *= static_cast<std::size_t>(sizes.extent(r))) {
        this->strides_[r] = stride;
      }
    }
  };
};

struct layout_left {
  template <typename Extents>
  struct mapping : strided<Extents, true> {
    constexpr mapping(const Extents& sizes = {}) noexcept {
      std::size_t stride = 1;
      for (std::size_t r = 0; r < Extents::rank(); stride *= static_cast<std::size_t>(sizes.extent(r++))) {
        this->strides_[r] = stride;
      }
    }
  };
};

struct layout_stride {
  template <typename Extents>
  struct mapping : strided<Extents, false> {
    constexpr mapping() noexcept = default;
    constexpr mapping(const Extents&, const std::array<std::size_t, Extents::rank()>& strides) noexcept {
      this->strides_ = strides;
    }
  };
};

template <typename T, typename Extents, typename Layout = layout_right>
class mdspan {
 public:
  using extents_type = Extents;
  using layout_type = Layout;
  using mapping_type = typename Layout::template mapping<Extents>;
  using element_type = T;
  using reference = T&;

  static constexpr std::size_t rank() noexcept { return Extents::rank(); }
  template <typename... Sizes>
  constexpr explicit mdspan(T* data, Sizes... sizes) noexcept
      : data_(data), extents_(static_cast<typename Extents::index_type>(sizes)...) {}
  constexpr mdspan(T* data, const mapping_type&) noexcept : data_(data) {}
  constexpr T* data_handle() const noexcept { return data_; }
  constexpr auto extent(std::size_t at) const noexcept { return extents_.extent(at); }
  constexpr std::size_t size() const noexcept {
    std::size_t product = 1;
    for (std::size_t r = 0; r < rank(); ++r) product *= static_cast<std::size_t>(extent(r));
    return product;
  }

 private:
  T* data_;
  Extents extents_{};
};

}  // namespace md

#endif

#endif  // TESTS_MDSPAN_HPP
