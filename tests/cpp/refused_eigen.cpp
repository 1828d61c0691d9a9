// What must not compile with Eigen's matrices, by denise.hpp and by denise_eigen.hpp, beside what must: as refused.cpp.
#include <denise_eigen.hpp>

#include <complex>

void use(const denise::model& model) {
  Eigen::MatrixXf m(20, 20), l, s, u, big(100, 100);
  const Eigen::MatrixXf fixed(20, 20);
  Eigen::MatrixXd doubles(20, 20);
  Eigen::MatrixXcf complex(20, 20);
  std::vector<float> memory(800);
  using Strided = Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<>>;
  const denise::view<float> block(memory.data(), 400);

  // denise.hpp takes none of them.
  model.decompose(block, block, block);
#if REFUSE == 1  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  model.decompose(m, block, block);
#endif
#if REFUSE == 2  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  model.decompose(block, big.block(0, 0, 20, 20), block);
#endif
#if REFUSE == 3  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  model.decompose(big.block(0, 0, 20, 20), block, block);
#endif
#if REFUSE == 4  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  model.decompose(Strided(memory.data(), 20, 20, Eigen::OuterStride<>(40)), block, block);
#endif
#if REFUSE == 5  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  model.decompose(denise::batch(big, 25), block, block);
#endif
  denise::outputs<float> out;
  out.u = denise::view(u.data(), 60);
#if REFUSE == 6  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  out.u = u;
#endif
#if REFUSE == 7  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  denise::solve(denise::method::pcp, 20, 3, doubles, std::nullopt, std::nullopt);
#endif

  // denise_eigen.hpp takes what it can take rightly.
  denise::decompose(model, big.block(0, 0, 20, 20), l, s);
#if REFUSE == 8  // denise: an output must be a matrix, an array or a map without strides
  denise::decompose(model, m, big.block(0, 0, 20, 20), s);
#endif
  denise::decompose(model, m, Eigen::Map<Eigen::MatrixXf>(memory.data(), 20, 20), s);
#if REFUSE == 9  // denise: an output must be a matrix, an array or a map without strides
  denise::decompose(model, m, Strided(memory.data(), 20, 20, Eigen::OuterStride<>(40)), s);
#endif
#if REFUSE == 10  // denise: an output must be a matrix, an array or a map without strides
  Eigen::Ref<Eigen::MatrixXf> reference(big);
  denise::decompose(model, m, reference, s);
#endif
#if REFUSE == 11  // denise: an output must be a matrix, an array or a map without strides
  denise::decompose(model, m, l.transpose(), s);
#endif
  denise::decompose(model, (m + m).eval(), l, s);
#if REFUSE == 12  // denise: this is an expression and has no memory
  denise::decompose(model, m + m, l, s);
#endif
#if REFUSE == 13  // denise: this is an expression and has no memory
  denise::decompose(model, m.transpose() * m, l, s);
#endif
  denise::eigen_outputs<float> named;
  named.u = u;
#if REFUSE == 14  // denise: an output must not be const
  named.l = fixed;
#endif
#if REFUSE == 15  // denise: this output would be gone after the call
  named.l = Eigen::MatrixXf(20, 20);
#endif
#if REFUSE == 16  // denise: m and all outputs must be of one type
  named.l = doubles;
#endif
#if REFUSE == 17  // denise: m and all outputs must be of one type
  denise::decompose(model, doubles, l, s);
#endif
#if REFUSE == 18  // denise: matrices are in float or double
  (void)denise::decompose(model, complex);
#endif
  denise::solve(denise::method::pcp, 3, doubles, doubles, std::nullopt);
#if REFUSE == 19  // denise: classical methods are in double
  denise::solve(denise::method::pcp, 3, m, l, s);
#endif
  denise::decompose(model, m, named);

  // Covariances.
  std::vector<float> factors(60), specific(20);
  Eigen::VectorXf d;
  Eigen::VectorXd wrong_d(20);
  denise::eigen_covariance_outputs<float> sigma;
  sigma.d = d;
  model.covariance(block, factors, specific);
#if REFUSE == 20  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  model.covariance(m, factors, specific);
#endif
#if REFUSE == 21  // denise: matrices of Eigen have strides .* include denise_eigen.hpp
  denise::solve(20, 3, u, specific, specific, specific);
#endif
  denise::covariance(model, m, u, sigma);
#if REFUSE == 22  // denise: this is an expression and has no memory
  denise::covariance(model, m + m, u, sigma);
#endif
#if REFUSE == 23  // denise: this is an expression and has no memory
  (void)denise::covariance(model, m.transpose() * m);
#endif
#if REFUSE == 24  // denise: an output must be a matrix, an array or a map without strides
  denise::covariance(model, m, big.block(0, 0, 20, 3), sigma);
#endif
#if REFUSE == 25  // denise: an output must be a matrix, an array or a map without strides
  sigma.d = big.col(0);
#endif
#if REFUSE == 26  // denise: m and all outputs must be of one type
  sigma.d = wrong_d;
#endif
#if REFUSE == 27  // denise: this output would be gone after the call
  sigma.sigma = Eigen::MatrixXf(20, 20);
#endif
#if REFUSE == 28  // denise: matrices are in float or double
  (void)denise::covariance(model, complex);
#endif
#if REFUSE == 29  // no matching function for call to .*covariance
  (void)denise::covariance(model, denise::stack(m, 1));
#endif
  const auto kept = denise::covariance(model, m);
  (void)kept.solve(d + d);
#if REFUSE == 30  // denise: x must be of the type of Sigma
  (void)kept.solve(wrong_d);
#endif
}
