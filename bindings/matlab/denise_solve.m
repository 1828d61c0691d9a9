function [L, S] = denise_solve (M, method, k, lambda)
%DENISE_SOLVE  Split matrices with a classical method, to check the network.
%
%   [L, S] = denise_solve (M, method) splits M, which is n-by-n or
%   n-by-n-by-B, with one of
%      'eigen'    the k largest eigenvalues that are positive
%      'pcp'      principal component pursuit
%      'ialm'     inexact augmented Lagrange multipliers
%      'fpcp'     fast principal component pursuit
%      'rpca_gd'  robust PCA by gradient descent
%   written from their papers. They are a thousand times slower than denise.
%   The error denise:unsupported says that a build of the library lacks one.
%
%   ... = denise_solve (M, method, k, lambda) sets the rank (default 3) and
%   lambda (default 0: the value of the Denise paper for that method).
%
%   See also DENISE, DENISE_INFO.

  if (nargin < 2)
    error ('denise:argument', 'M and a method are needed: see help denise_solve');
  end
  if (nargin < 3 || isempty (k))
    k = min (3, size (M, 1) - 1);
  end
  if (nargin < 4)
    lambda = 0;
  end
  names = {'eigen', 'pcp', 'ialm', 'fpcp', 'rpca_gd'};
  if (~ ischar (method) && ~ isa (method, 'string'))
    error ('denise:argument', 'method must be one of: %s', strjoin (names, ', '));
  end
  number = find (strcmpi (char (method), names));
  if (isempty (number))
    error ('denise:argument', 'there is no method ''%s'', only: %s', char (method), strjoin (names, ', '));
  end
  if (~ isfloat (M))
    error ('denise:class', 'M must be a full array of class single or double, not %s', class (M));
  end
  if (nargout > 1)
    [L, S] = denise_mex ('solve', number, double (M), k, lambda);
    S = cast (S, class (M));
  else
    L = denise_mex ('solve', number, double (M), k, lambda);
  end
  L = cast (L, class (M));
end
