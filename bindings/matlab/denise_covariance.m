function [Sigma, inverse, d, logdet, U, report] = denise_covariance (M, varargin)
%DENISE_COVARIANCE  Covariance matrices that can be inverted.
%
%   [Sigma, inverse] = denise_covariance (M) splits the covariance matrix M
%   into L + S as denise does, and keeps of S the diagonal only:
%      Sigma = U*U' + diag (d),   L = U*U'
%   So assets have nothing in common but the factors, and Sigma is positive
%   definite, however few observations M was made from. inverse is inv (Sigma).
%   Both have the size and the class of M, which is n-by-n, or n-by-n-by-B for
%   B matrices at once.
%
%   [Sigma, inverse, d, logdet, U, report] = denise_covariance (M) also returns
%      d        what each asset does on its own: n-by-B, one column per matrix.
%               It is S(i,i), but not less than floor * M(i,i)
%      logdet   log (det (Sigma)), B-by-1, in double
%      U        the factor, n-by-k-by-B
%      report   as that of denise; status is 11 for a matrix without a
%               positive variance, which gives NaN
%   What is not asked for is not computed. denise_sigma_solve (U, d, b) is
%   Sigma \ b for any b, and does without Sigma.
%
%   ... = denise_covariance (M, k) sets the largest rank of U*U'.
%
%   ... = denise_covariance (M, 'Name', value, ...), with k before the names,
%   or with a struct of options, takes the options of denise (k, threads,
%   correlation, careful, missing, model), and
%      floor    the least share of a variance that is an asset's own, from
%               1e-6 to 1 (default 0.05). It bounds the condition number of
%               Sigma. Where d is at the floor, Sigma(i,i) is above M(i,i);
%               elsewhere they are equal
%   A variance that is not known (with missing), zero or negative gets the mean
%   of the other d: an asset that did not move is not one without risk.
%
%   ... = denise_covariance (net, M, ...) uses a model that denise opened.
%
%   [Sigma, inverse, d, logdet] = denise_covariance (M, U) takes a U that is
%   there already, n-by-k or n-by-k-by-B, such as that of denise_rolling, of a
%   stream or of any other method. Of M only the variances count, and NaN is
%   one that is not known. The only option is floor. For all windows at once:
%      [L, S, U] = denise_rolling (P, 100);
%      [Sigma, inverse] = denise_covariance (L + S, U);
%   For the last tick of a stream, see 'sigma' in help denise_stream.
%
%   A matrix with NaN or Inf gives NaN and the warning denise:notFinite, one
%   without a positive variance NaN and the warning denise:singular; the other
%   pages are not touched by it. Errors have the identifiers that help denise
%   lists. In MATLAB, M may be a table or a timetable as for denise; Sigma and
%   inverse are then tables with the same names.
%
%   Example: the portfolio of least variance
%      [~, inverse] = denise_covariance (M);
%      w = sum (inverse, 2) / sum (inverse(:));
%
%   It can be called as denise.covariance too.
%
%   See also DENISE_SIGMA_SOLVE, DENISE_SIGMA_MULTIPLY, DENISE_STREAM,
%   DENISE_ROLLING, DENISE.

  if (nargin == 0 || (nargin == 1 && isa (M, 'uint64')))
    error ('denise:argument', 'M is missing: see help denise_covariance');
  end
  results = cell (1, 6);
  wanted = max (nargout, 1);
  if (isa (M, 'uint64'))
    [A, names] = matrix_from (varargin{1});
    [results{1:wanted}] = denise_mex ('covariance', M, A, varargin{2:end});
  else
    [A, names] = matrix_from (M);
    if (nargin > 1 && isfloat (varargin{1}) && ~ isscalar (varargin{1}) && ~ isempty (varargin{1}))
      [A, varargin{1}] = one_class (A, varargin{1});
    end
    [results{1:wanted}] = denise_mex ('covariance', A, varargin{:});
  end
  [Sigma, inverse, d, logdet, U, report] = results{:};
  Sigma = table_of (Sigma, names);
  inverse = table_of (inverse, names);
end
