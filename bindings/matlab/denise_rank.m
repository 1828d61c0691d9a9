function k = denise_rank (M, varargin)
%DENISE_RANK  How many factors covariance matrices have.
%
%   k = denise_rank (M) suggests the rank for denise (M, k): from 0, which
%   means that no common factor was found, to 10. M is n-by-n, or n-by-n-by-B;
%   k is B-by-1. Neither units nor order of the assets matter. NaN is an entry
%   that is not known, and an asset whose variance is not positive does not
%   count. n assets tell few factors apart: 5 for n = 20, 1 for n < 9.
%
%   k = denise_rank (M, observations) says how many observations M was made
%   from, which makes the answer better; [] and 0 mean that it is not known.
%
%   k = denise_rank (M, 'Name', value, ...), with the observations before the
%   names, or with a struct of options, takes
%      observations   as above
%      most           the largest rank to suggest, at most 32 (default 10)
%
%   It takes much longer than denise (M), about a millisecond for 20 assets:
%   call it now and then, not at every tick. It works in double, whatever the
%   class of M.
%
%   A matrix with Inf gives NaN and the warning denise:notFinite. In MATLAB, M
%   may be a table or a timetable as for denise; a timetable has as many
%   observations as rows, unless told otherwise.
%
%   Example:
%      k = max (denise_rank (cov (returns), size (returns, 1)), 1);
%      [L, S] = denise (cov (returns), k);
%
%   It can be called as denise.rank too.
%
%   See also DENISE, DENISE_COVARIANCE.

  if (nargin == 0)
    error ('denise:argument', 'M is missing: see help denise_rank');
  end
  A = matrix_from (M);
  if (isa (M, 'timetable'))
    varargin = [{'observations', size(M{:,:}, 1)}, named(varargin)];
  end
  k = denise_mex ('rank', A, varargin{:});
end

% A number without a name can only come first.
function words = named (words)
  if (~ isempty (words) && isnumeric (words{1}))
    words = [{'observations'}, words];
  end
end
