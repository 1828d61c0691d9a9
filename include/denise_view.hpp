// Blocks of memory for denise.hpp, which includes this: what may be passed as a matrix, and what must not.
//
// A view is a pointer and a size, and what is known of the shape. It is made from anything whose values lie one after
// another in row-major order, and from nothing else: that a type has data() and size() is not enough, since the
// matrices of Eigen and others have these too, and strides or another order besides.
#ifndef DENISE_VIEW_HPP
#define DENISE_VIEW_HPP

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace denise {

template <typename T>
class view;

namespace detail {

template <typename T>
using bare = std::remove_cv_t<std::remove_reference_t<T>>;

// float* to const float* is fine, derived* to base* is not: as for std::span.
template <typename From, typename To>
inline constexpr bool points_to = std::is_convertible_v<From (*)[], To (*)[]>;

template <typename T>
inline constexpr bool is_view = false;
template <typename T>
inline constexpr bool is_view<view<T>> = true;

// std::mdspan, or one of those that came before it: known by its members, so that C++17 will do.
template <typename T, typename = void>
inline constexpr bool is_mdspan = false;
template <typename T>
inline constexpr bool is_mdspan<T, std::void_t<typename T::extents_type, typename T::layout_type,
                                               decltype(std::declval<const T&>().data_handle())>> = true;

template <typename T, typename = void>
inline constexpr bool is_container = false;
template <typename T>
inline constexpr bool
    is_container<T, std::void_t<decltype(std::declval<T&>().data()), decltype(std::declval<T&>().size())>> =
        !is_mdspan<T>;

// The values of a container, of a C array of any rank, or of an mdspan; constness included.
template <typename T, typename = void>
struct values {};
template <typename T>
struct values<T, std::enable_if_t<is_container<T>>> {
  using type = std::remove_pointer_t<decltype(std::declval<T&>().data())>;
};
template <typename T>
struct values<T, std::enable_if_t<std::is_array_v<T>>> {
  using type = std::remove_all_extents_t<T>;
};
template <typename T>
struct values<T, std::enable_if_t<is_mdspan<T>>> {
  using type = typename T::element_type;
};

// Containers to be refused: those of Eigen, and others that have strides or dimensions.
template <typename T, typename = void>
inline constexpr bool is_eigen = false;
template <typename T>
inline constexpr bool is_eigen<T, std::void_t<decltype(std::declval<const T&>().outerStride())>> = true;
template <typename T, typename = void>
inline constexpr bool has_strides = false;
template <typename T>
inline constexpr bool has_strides<T, std::void_t<decltype(std::declval<const T&>().strides())>> = true;
template <typename T, typename = void>
inline constexpr bool has_dimensions = false;
template <typename T>
inline constexpr bool has_dimensions<T, std::void_t<decltype(std::declval<const T&>().dimensions())>> = true;

// Whether a layout of mdspan is row-major: asks it where it would put the entries of a 2 x 3 matrix.
template <typename Layout, template <typename, std::size_t...> class Extents, typename Index, std::size_t... sizes>
constexpr bool is_row_major(const Extents<Index, sizes...>*) noexcept {
  using Mapping = typename Layout::template mapping<Extents<Index, 2, 3>>;
  if constexpr (Mapping::is_always_exhaustive()) return Mapping{}(0, 1) == 1 && Mapping{}(1, 0) == 3;
  return false;
}

// &array[0]...[0]
template <typename T>
constexpr auto* first(T& array) noexcept {
  if constexpr (std::is_array_v<T>) {
    return first(array[0]);
  } else {
    return &array;
  }
}

}  // namespace detail

// A contiguous block that somebody else owns: what std::span is in C++20, and each can be made from the other. It
// is a type of its own so that programs may mix C++17 and C++20, and because it knows more: how many matrices of which
// size it is, where that was said.
template <typename T>
class view {
  template <typename From>
  using if_values =
      std::enable_if_t<!detail::is_view<detail::bare<From>> &&
                           detail::points_to<typename detail::values<std::remove_reference_t<From>>::type, T>,
                       int>;

 public:
  constexpr view() noexcept = default;
  constexpr view(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  // From a container, a C array or an mdspan.
  template <typename From, if_values<From> = 0>
  constexpr view(From&& from) noexcept {
    using Type = std::remove_reference_t<From>;
    if constexpr (detail::is_mdspan<Type>) {
      set_mdspan(from);
    } else if constexpr (std::rank_v<Type> > 1) {
      set_array(from);
    } else {
      set_container(from);
    }
  }

  // From a view of values that may be written. What is known of the shape is kept.
  template <typename From, std::enable_if_t<detail::points_to<From, T>, int> = 0>
  constexpr view(const view<From>& other) noexcept
      : data_(other.data()), size_(other.size()), count_(other.count()), rows_(other.rows()), cols_(other.cols()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }

  // How many matrices this is: one, unless something else was said. Rows and columns are 0 if they are not known.
  constexpr std::size_t count() const noexcept { return count_; }
  constexpr std::size_t rows() const noexcept { return rows_; }
  constexpr std::size_t cols() const noexcept { return cols_; }

  // The same block, said to be so many matrices.
  constexpr view as(std::size_t count) const noexcept {
    view same = *this;
    same.count_ = count;
    return same;
  }

  // Whether it can be count matrices of rows x cols. No count makes this overflow.
  constexpr bool fits(std::size_t count, std::size_t rows, std::size_t cols) const noexcept {
    const bool known = rows_ != 0;
    return size_ % (rows * cols) == 0 && size_ / (rows * cols) == count &&
           (!known || (count_ == count && rows_ == rows && cols_ == cols));
  }

 private:
  template <typename Container>
  constexpr void set_container(Container& from) noexcept {
    static_assert(!detail::is_eigen<Container>,
                  "denise: matrices of Eigen have strides and an order of their own; include denise_eigen.hpp and call "
                  "denise::decompose(model, m, l, s), denise::covariance(model, m) or "
                  "denise::solve(method, k, m, l, s)");
    static_assert(!detail::has_strides<Container> && !detail::has_dimensions<Container>,
                  "denise: this type has strides or dimensions of its own; if its values are row-major without gaps, "
                  "pass denise::view(pointer, size)");
    data_ = std::data(from);
    size_ = static_cast<std::size_t>(std::size(from));
  }

  template <typename Array>
  constexpr void set_array(Array& from) noexcept {
    constexpr std::size_t rank = std::rank_v<Array>;
    static_assert(rank <= 3, "denise: a C array of matrices is [n][n] or [count][n][n]");
    set(detail::first(from), rank == 3 ? std::extent_v<Array> : 1, std::extent_v<Array, rank - 2>,
        std::extent_v<Array, rank - 1>);
  }

  template <typename Mdspan>
  constexpr void set_mdspan(const Mdspan& from) noexcept {
    constexpr std::size_t rank = Mdspan::rank();
    static_assert(rank == 2 || rank == 3, "denise: an mdspan of matrices is n x n or count x n x n");
    static_assert(std::is_same_v<typename Mdspan::reference, typename Mdspan::element_type&>,
                  "denise: the accessor of this mdspan gives other values than are in memory");
    static_assert(
        Mdspan::mapping_type::is_always_exhaustive() && detail::is_row_major<typename Mdspan::layout_type>(
                                                            static_cast<const typename Mdspan::extents_type*>(nullptr)),
        "denise: an mdspan must be row-major without gaps by its type, as with layout_right, since u is "
        "row-major and only the lower triangle of m is read");
    const auto extent = [&from](std::size_t at) { return static_cast<std::size_t>(from.extent(at)); };
    set(from.data_handle(), rank == 3 ? extent(0) : 1, extent(rank - 2), extent(rank - 1));
  }

  constexpr void set(T* data, std::size_t count, std::size_t rows, std::size_t cols) noexcept {
    data_ = data;
    size_ = count * rows * cols;
    count_ = count;
    rows_ = rows;
    cols_ = cols;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t count_ = 1;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

// Says that a block is so many matrices, one after another. Where nobody says so, a block is one.
template <typename From, typename Value = typename detail::values<const From>::type>
constexpr view<const Value> batch(const From& block, std::size_t count) noexcept {
  return view<const Value>(block).as(count);
}

}  // namespace denise

#endif  // DENISE_VIEW_HPP
