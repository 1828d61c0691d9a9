function [U, V] = rpca_gd (Y, r, alpha, params)
  assert (alpha == 0.1 && params.max_iter == 30);
  S = Tproj_partial (Y, 1 / size (Y, 1), 1 / size (Y, 1));
  assert (nnz (S) <= 2 * size (Y, 1));
  [U, D, V] = lansvd (Y, r, 'L');
  U = U * D;
end
