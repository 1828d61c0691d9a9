function y = denise_sigma_multiply (U, d, b)
%DENISE_SIGMA_MULTIPLY  Sigma * b, without Sigma.
%
%   y = denise_sigma_multiply (U, d, b) is Sigma * b for Sigma = U*U' +
%   diag (d). U and d are as denise_covariance returns them: n-by-k and n-by-1,
%   or n-by-k-by-B and n-by-B for B matrices. b has n rows and any number of
%   columns, and either B pages or one page, which then is for all of them. y
%   is n-by-c, or n-by-c-by-B.
%
%   It takes about 2*n*k operations for each column of b, where Sigma * b takes
%   n^2. All of it is done in double; y is single if U, d or b is.
%
%   NaN or Inf in U, d or b gives NaN on that page and the warning
%   denise:notFinite.
%
%   Example: the volatility of a portfolio with the weights w
%      [~, ~, d, ~, U] = denise_covariance (M);
%      volatility = sqrt (w' * denise_sigma_multiply (U, d, w));
%
%   It can be called as denise.sigma_multiply too.
%
%   See also DENISE_SIGMA_SOLVE, DENISE_COVARIANCE.

  if (nargin < 3)
    error ('denise:argument', 'U, d and b are needed: see help denise_sigma_multiply');
  end
  [U, d, b] = one_class (numbers_from (U, 'U'), numbers_from (d, 'd'), numbers_from (b, 'b'));
  y = denise_mex ('sigma_multiply', U, d, b);
end
