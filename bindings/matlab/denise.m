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
%      status    0, or 7 for a matrix with Inf, or with NaN that does not
%                stand for a missing entry
%      unsettled what the last layer changed, relative to U: small means that
%                more layers would not change the answer
%      least_specific   the least S(i,i) / M(i,i): negative means that L
%                explains more than all of a variance
%      missing   entries of one triangle that were not known; 0 without the
%                option missing
%      first_bad where M has the first entry that made its status 7,
%                M(first_bad); 0 if nowhere
%
%   ... = denise (M, k) sets the largest rank of L: k < n, at most 32.
%
%   ... = denise (M, 'Name', value, ...), denise (M, k, 'Name', value, ...)
%   and denise (M, options), where options is a struct, take these options;
%   [] stands for the default, and of two values the last one counts:
%      k        as above
%      threads  threads to use for many matrices, or large ones (default 1)
%      correlation  true: split the correlation matrix of M and scale back,
%               so that the units of the assets do not matter (default false)
%      careful  true: several starts run through all layers, and the result
%               that leaves the least unexplained is kept. About four times
%               the time, and smaller errors where outliers are large or many;
%               L is then not continuous in M (default false)
%      missing  true: NaN in M is an entry that is not known. L is complete,
%               S is NaN there, and the report is about what is known. An
%               asset of which nothing is known off the diagonal gets zeros
%               in L. Inf stays an error (default false)
%      model    a model file to use in place of the built-in network. It is
%               read anew in every call; see below for a faster way. Or
%               'fast', a network with fewer layers that is built in, too.
%
%   net = denise ('model.onnx') opens a model file, and net = denise ('fast')
%   a network that is built in; k and threads may follow.
%   ... = denise (net, M) and denise (net, M, 'Name', value, ...) use it, and
%   denise (net, 'close') closes it. `clear all` closes what is left. The
%   handle net belongs to this process: parfor workers open their own.
%
%   M must be real, full, and symmetric up to rounding. A matrix with Inf, or
%   with NaN unless the option missing is true, gives NaN and the warning
%   denise:notFinite; the other pages are not touched by it. Errors have identifiers: denise:argument, denise:shape,
%   denise:class, denise:complex, denise:notSymmetric, denise:handle,
%   denise:io, denise:format, denise:unsupported, denise:memory.
%
%   In MATLAB, M may be a table with n rows and n variables, which is the
%   matrix, or a timetable of returns with one variable per asset, of which M
%   is then the covariance. L and S are tables with the same names.
%
%   Example:
%      M = ones (5);  M(3,5) = 1.5;  M(5,3) = 1.5;
%      [L, S] = denise (M, 1)          % S has the pair that stands out
%
%   See also DENISE_COVARIANCE, DENISE_RANK, DENISE_STREAM, DENISE_ROLLING,
%   DENISE_PLOT, DENISE_SOLVE, DENISE_INFO.

  if (nargin > 0 && (isa (M, 'double') || isa (M, 'single')))
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
  elseif (nargin == 0 && nargout == 1)
    % Octave takes denise.plot (M) for a field of what denise () returns; MATLAB finds the package +denise.
    L = struct ('stream', @denise_stream, 'rolling', @denise_rolling, 'plot', @denise_plot, ...
                'solve', @denise_solve, 'info', @denise_info, 'covariance', @denise_covariance, ...
                'sigma_solve', @denise_sigma_solve, 'sigma_multiply', @denise_sigma_multiply, ...
                'rank', @denise_rank);
  elseif (nargin == 0 || (nargin == 1 && isa (M, 'uint64')))
    error ('denise:argument', 'M is missing: see help denise');
  elseif (ischar (M) || isa (M, 'string'))
    L = denise_mex ('open', M, varargin{:});
  elseif (isa (M, 'uint64') && (ischar (varargin{1}) || isa (varargin{1}, 'string')))
    if (~ strcmpi (varargin{1}, 'close'))
      error ('denise:argument', 'a matrix or ''close'' is expected after the model, not ''%s''', char (varargin{1}));
    end
    denise_mex ('close', M);
  else
    results = cell (1, 4);
    wanted = max (nargout, 1);
    if (isa (M, 'uint64'))
      [A, names] = matrix_from (varargin{1});
      [results{1:wanted}] = denise_mex ('decompose', M, A, varargin{2:end});
    else
      [A, names] = matrix_from (M);
      [results{1:wanted}] = denise_mex ('decompose', A, varargin{:});
    end
    [L, S, U, report] = results{:};
    L = table_of (L, names);
    S = table_of (S, names);
  end
end
