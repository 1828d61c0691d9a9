function x = denise_sigma_solve (U, d, b)
%DENISE_SIGMA_SOLVE  Sigma \ b, without Sigma.
%
%   x = denise_sigma_solve (U, d, b) is Sigma \ b for Sigma = U*U' + diag (d).
%   U and d are as denise_covariance returns them: n-by-k and n-by-1, or
%   n-by-k-by-B and n-by-B for B matrices. b has n rows and any number of
%   columns, and either B pages or one page, which then is for all of them. x
%   is n-by-c, or n-by-c-by-B.
%
%   It takes about n*k^2 operations for each matrix and 2*n*k for each column
%   of b, where Sigma \ b takes n^3/3. All of it is done in double; x is single
%   if U, d or b is.
%
%   NaN or Inf in U, d or b gives NaN on that page and the warning
%   denise:notFinite. A d that is not positive gives NaN and the warning
%   denise:singular.
%
%   Example: the portfolio of least variance
%      [~, ~, d, ~, U] = denise_covariance (M);
%      w = denise_sigma_solve (U, d, ones (size (d)));
%      w = w / sum (w);
%
%   It can be called as denise.sigma_solve too.
%
%   See also DENISE_SIGMA_MULTIPLY, DENISE_COVARIANCE.

  if (nargin < 3)
    error ('denise:argument', 'U, d and b are needed: see help denise_sigma_solve');
  end
  [U, d, b] = one_class (numbers_from (U, 'U'), numbers_from (d, 'd'), numbers_from (b, 'b'));
  x = denise_mex ('sigma_solve', U, d, b);
end
