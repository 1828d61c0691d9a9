function [values, places] = maxk (a, k, dim, varargin)
%MAXK  The k largest entries of each column (dim 1) or row (dim 2), and where they are.
%
%   For programs without MATLAB's function of that name. Further options, which only say in which order the
%   entries may come, are ignored: they come sorted.
  substitute ('maxk');
  if (nargin < 3)
    dim = 1;
  end
  [values, places] = sort (full (a), dim, 'descend');
  if (dim == 1)
    values = values(1:k,:);
    places = places(1:k,:);
  else
    values = values(:,1:k);
    places = places(:,1:k);
  end
end
