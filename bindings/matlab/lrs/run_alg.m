% Denise for the LRS library: README.md beside this file says how to put it there.
%
%   results = run_algorithm ('RPCA', 'Denise', M)
%   results = run_algorithm ('RPCA', 'Denise', M, struct ('rank', 5))
%
% M must be a covariance matrix: square and symmetric. The library's other algorithms also take videos as
% tall matrices; Denise does not. params.rank is the largest rank of L (default 3, less if M is that small).
%
% The library runs this script in its own workspace: it reads M and params, and takes L and S from it.
if (isfield (params, 'rank'))
  [L, S] = denise (M, params.rank);
else
  [L, S] = denise (M);
end
