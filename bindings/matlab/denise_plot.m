function window = denise_plot (M, varargin)
%DENISE_PLOT  Draw M = L + S as three heat maps.
%
%   denise_plot (M) splits the matrix M as denise does, and draws M, L and S
%   in a new window, in the same colours. M is one matrix, or what else denise
%   takes as one; names of a table become labels. What may follow M in denise
%   may follow it here: denise_plot (M, k), denise_plot (M, 'Name', value).
%
%   denise_plot (net, M, ...) does so with an opened model.
%
%   window = denise_plot (...) returns the window, for example for print.
%
%   It can be called as denise.plot too.
%
%   See also DENISE, DENISE_SOLVE.

  if (nargin == 0 || (nargin == 1 && isa (M, 'uint64')))
    error ('denise:argument', 'M is missing: see help denise_plot');
  end
  net = {};
  if (isa (M, 'uint64'))
    net = {M};
    M = varargin{1};
    varargin(1) = [];
  end
  [M, names] = matrix_from (M);
  if (ndims (M) > 2)
    error ('denise:shape', 'M must be one matrix to be drawn: choose a page, such as M(:,:,1)');
  end
  [L, S, U, report] = denise (net{:}, M, varargin{:});

  handle = figure ();
  limit = max (abs (M(isfinite (M))));
  if (isempty (limit) || limit == 0)
    limit = 1;
  end
  tile (1, M, 'M', names, limit);
  tile (2, L, sprintf ('L, rank %d', size (U, 2)), names, limit);
  tile (3, S, sprintf ('S, %.0f %% zeros', 100 * report.sparsity), names, limit);
  set (handle, 'colormap', blue_white_red ());
  if (nargout > 0)
    window = handle;
  end
end

function tile (place, A, name, names, limit)
  subplot (1, 3, place);
  imagesc (A, double ([-limit limit]));
  axis ('square');
  title (name);
  set (gca (), 'xtick', [], 'ytick', []);
  if (~ isempty (names))
    set (gca (), 'ytick', 1:numel (names), 'yticklabel', names);
  end
end

% Blue is negative, white is zero, red is positive.
function map = blue_white_red ()
  up = linspace (0, 1, 32)';
  map = [up up ones(32, 1); ones(32, 1) flipud(up) flipud(up)];
end
