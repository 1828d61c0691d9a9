function [L, S, U, report] = denise (M, varargin)
%DENISE  Split covariance matrices into a low-rank and a sparse part.
%
%   [L, S] = denise (M) splits the covariance or correlation matrix M into
%   L + S, where L is positive semidefinite with rank at most 3 and S is
%   sparse. M is n-by-n, or n-by-n-by-B for B matrices at once, which is the
%   fast way to split many. The results have the size and the class (single
%   or double) of M.
%
%   [L, S, U, report] = denise (M) also returns the n-by-k factor U with
%   L = U*U' (n-by-k-by-B for B matrices) and a struct with one row per matrix
%   in each field:
%      l1        sum of |S(i,j)|
%      residual  norm (M - L, 'fro') / norm (M, 'fro')
%      sparsity  share of entries with |S(i,j)| <= 0.01 * trace (M) / n
%      status    0, or 7 for a matrix with NaN or Inf
%
%   ... = denise (M, k) sets the largest rank of L: k < n, at most 32.
%
%   ... = denise (M, 'Name', value, ...) takes these options:
%      k        as above
%      threads  threads to use for many matrices (default 1)
%      model    a model file to use in place of the built-in network. It is
%               read anew in every call; see below for a faster way.
%
%   net = denise ('model.onnx') opens a model file; k and threads may follow.
%   ... = denise (net, M) and denise (net, M, 'Name', value, ...) use it, and
%   denise (net, 'close') closes it. `clear all` closes what is left.
%
%   M must be real, full, and symmetric up to rounding. A matrix with NaN or
%   Inf gives NaN and the warning denise:notFinite; the other pages are not
%   touched by it. Errors have identifiers: denise:argument, denise:shape,
%   denise:class, denise:complex, denise:notSymmetric, denise:handle,
%   denise:io, denise:format, denise:unsupported, denise:memory.
%
%   Example:
%      M = ones (5);  M(3,5) = 1.5;  M(5,3) = 1.5;
%      [L, S] = denise (M, 1)          % S has the pair that stands out
%
%   See also DENISE_INFO, DENISE_SOLVE.

  if (nargin > 0 && isfloat (M))
    % Spelt out by number of results, which costs Octave less than varargout.
    if (nargout < 2)
      L = denise_mex ('decompose', M, varargin{:});
    elseif (nargout == 2)
      [L, S] = denise_mex ('decompose', M, varargin{:});
    elseif (nargout == 3)
      [L, S, U] = denise_mex ('decompose', M, varargin{:});
    else
      [L, S, U, report] = denise_mex ('decompose', M, varargin{:});
    end
  elseif (nargin == 0 || (nargin == 1 && isa (M, 'uint64')))
    error ('denise:argument', 'M is missing: see help denise');
  elseif (ischar (M) || isa (M, 'string'))
    L = denise_mex ('open', char (M), varargin{:});
  elseif (isa (M, 'uint64') && strcmp (varargin{1}, 'close'))
    denise_mex ('close', M);
  elseif (isa (M, 'uint64'))
    results = cell (1, 4);
    wanted = max (nargout, 1);
    [results{1:wanted}] = denise_mex ('decompose', M, varargin{:});
    [L, S, U, report] = results{:};
  else
    error ('denise:class', 'M must be a full array of class single or double, not %s', class (M));
  end
end
