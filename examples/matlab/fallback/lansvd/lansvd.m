function [u, s, v] = lansvd (a, k, varargin)
%LANSVD  The k largest singular values and their vectors.
%
%   Stands in for PROPACK's function where that is not installed. It computes all of them and keeps k, which for
%   small matrices is as fast.
  substitute ('lansvd');
  [u, s, v] = svd (full (a), 'econ');
  u = u(:,1:k);
  s = s(1:k,1:k);
  v = v(:,1:k);
end
