function [L, S] = denise_solve (M, method, varargin)
%DENISE_SOLVE  Split matrices with a classical method, to check the network.
%
%   [L, S] = denise_solve (M, method) splits M, which is what denise takes,
%   with one of
%      'eigen'       the k largest eigenvalues that are positive
%      'pcp'         principal component pursuit
%      'ialm'        inexact augmented Lagrange multipliers
%      'fpcp'        fast principal component pursuit
%      'rpca_gd'     robust PCA by gradient descent, also spelt 'RPCA-GD'
%      'masked_pcp'  pcp where NaN in M is an entry that is not known: L is
%                    complete, and S is NaN where M is
%   written from their papers, and slower than denise. They work in double;
%   single M gives single results.
%   The error denise:unsupported says that a build of the library lacks one.
%
%   ... = denise_solve (M, method, k, lambda) sets the rank (default 3) and
%   lambda (default: the value of the Denise paper for that method; [] and 0
%   stand for it). Both may come as 'k', value and 'lambda', value, or as
%   fields of a struct.
%
%   They give what the LRS library gives, on one condition: that the LRS
%   library's stopping rule lets it converge. For PCP it does not always do so.
%   On matrices with small entries or a bad scale, such as covariances of daily
%   returns, the LRS library stops early, with norm (M-L-S, 'fro') /
%   norm (M, 'fro') of about 1e-3 or more, and L differs by up to several per
%   cent of M. With lambda = 1/sqrt (n) that happens to a few other matrices
%   too, whose L then differs by about 1e-3 of M. denise_solve goes on until
%   that ratio is below 1e-3 and the steps are small beside the entries of M.
%
%   See also DENISE, DENISE_PLOT, DENISE_INFO.

  if (nargin < 2)
    error ('denise:argument', 'M and a method are needed: see help denise_solve');
  end
  [M, names] = matrix_from (M);
  if (nargout > 1)
    [L, S] = denise_mex ('solve', M, method, varargin{:});
    S = table_of (S, names);
  else
    L = denise_mex ('solve', M, method, varargin{:});
  end
  L = table_of (L, names);
end
