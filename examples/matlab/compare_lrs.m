function compare_lrs (lrs, count, picture)
%COMPARE_LRS  Denise beside PCP, IALM, FPCP and RPCA-GD: a table and a picture.
%
%   compare_lrs runs them on synthetic matrices and on correlations of stocks. LRS_PATH, a variable of the
%   environment, is a clone of the LRS library whose real functions are then used; without it, the methods of
%   denise_solve take their place.
%
%   compare_lrs (path, count, picture) gives the path of the library ('' for none), the number of matrices in each
%   column (default 10), and the name of the picture (default compare_lrs.png).
%
%   Build the MEX file first: run make in bindings/matlab.

  if (nargin < 1)
    lrs = getenv ('LRS_PATH');
  end
  if (nargin < 2)
    count = 10;
  end
  if (nargin < 3)
    picture = 'compare_lrs.png';
  end
  find_denise ();
  if (~ isempty (lrs) && ~ exist (fullfile (lrs, 'algorithms'), 'dir'))
    error ('denise:argument', '%s is not the LRS library: it has no folder ''algorithms''', lrs);
  end

  n = 20;
  k = 3;
  if (exist ('rng'))
    rng (1);
  else   % Octave before 7
    rand ('twister', 1);
    randn ('twister', 1);
  end
  sparsities = [0.60 0.80 0.95];
  sets = struct ('name', {}, 'M', {}, 'L0', {}, 'c', {}, 'results', {});
  for s0 = sparsities
    [M, L0] = synthetic (count, n, k, s0);
    sets(end+1) = struct ('name', sprintf ('%d %%', round (100 * s0)), 'M', M, 'L0', L0, 'c', 1 / 1.79, 'results', []);
  end
  stocks = stock_windows (count);
  if (~ isempty (stocks))
    sets(end+1) = struct ('name', 'stocks', 'M', stocks, 'L0', [], 'c', 1 / 1.56, 'results', []);
  end

  for i = 1:numel (sets)
    M = sets(i).M;
    results = one_by_one ('Denise, by denise.m', M, @(m) denise (m, k));
    if (isempty (lrs))
      lambda = sets(i).c / sqrt (n);
      results(end+1) = one_by_one ('PCP, libdenise', M, @(m) denise_solve (m, 'pcp', k, lambda));
      results(end+1) = one_by_one ('IALM, libdenise', M, @(m) denise_solve (m, 'ialm', k, lambda));
      results(end+1) = one_by_one ('FPCP, libdenise', M, @(m) denise_solve (m, 'fpcp', k));
      results(end+1) = one_by_one ('RPCA-GD, libdenise', M, @(m) denise_solve (m, 'rpca_gd', k));
    else
      theirs = lrs_methods (lrs, M, k, sets(i).c);
      for r = 1:numel (theirs)
        theirs(r).name = [theirs(r).name ', LRS library'];
        results(end+1) = orderfields (theirs(r), results);
      end
    end
    results(end+1) = one_by_one ('eigen-truncation, libdenise', M, @(m) denise_solve (m, 'eigen', k));
    nothing = struct ('name', 'L = M (do nothing)', 'L', M, 'S', 0 * M, 'seconds', 0, 'note', '');
    results(end+1) = orderfields (nothing, results);
    sets(i).results = results;
  end

  info = denise_info ();
  fprintf ('libdenise %s, kernel %s; %d x %d matrices, rank %d, %d in each column, one per call\n\n', ...
           info.version, info.kernel, n, n, k, count);
  print_table (sets);
  if (isempty (lrs))
    fprintf ('\nThese are libdenise''s own versions of the methods. For the real ones:\n');
    fprintf ('  git clone --recursive https://github.com/andrewssobral/lrslibrary\n');
    fprintf ('  compare_lrs (''lrslibrary'')\n');
  end

  results = sets(end).results;
  results = results(cellfun ('isempty', {results.note}));
  parts = cell (numel (results) - 1, 2);
  for r = 1:numel (results) - 1   % all but L = M
    parts(r,:) = {results(r).L(:,:,1), results(r).S(:,:,1)};
  end
  fprintf ('\n');
  draw (picture, sets(end).M(:,:,1), strtok ({results(1:end-1).name}, ','), parts);
end

% Every page by itself, timed. The first runs twice, for warmth.
function result = one_by_one (name, M, call)
  result = struct ('name', name, 'L', NaN (size (M)), 'S', NaN (size (M)), 'seconds', NaN (1, size (M, 3)), 'note', '');
  try
    [~, ~] = call (M(:,:,1));
    for q = 1:size (M, 3)
      start = tic ();
      [L, S] = call (M(:,:,q));
      result.seconds(q) = toc (start);
      result.L(:,:,q) = L;
      result.S(:,:,q) = S;
    end
  catch problem
    if (strcmp (problem.identifier, 'denise:unsupported'))
      result.note = 'not in this build';
    else
      result.note = problem.message;
    end
  end
end

function print_table (sets)
  fprintf ('  %-30s%s\n', '', 'error of L, ||L - L0|| / ||L0||');
  fprintf ('  %-30s', 'zeros in S0');
  for i = 1:numel (sets)
    if (isempty (sets(i).L0))
      fprintf ('%17s%12s', '||M-L|| / ||M||', 'zeros in S');
    else
      fprintf ('%9s', sets(i).name);
    end
  end
  fprintf ('%13s%13s\n', 'one matrix', 'to Denise');
  fastest = median_time (sets, 1);
  for r = 1:numel (sets(1).results)
    fprintf ('  %-30s', sets(1).results(r).name);
    for i = 1:numel (sets)
      result = sets(i).results(r);
      if (~ isempty (result.note))
        fprintf ('  %s', result.note);
        break;
      end
      if (isempty (sets(i).L0))
        fprintf ('%17.3f%10.0f %%', relative (sets(i).M - result.L, sets(i).M), ...
                 100 * mean (abs (sets(i).M(:) - result.L(:)) <= 0.01));
      else
        fprintf ('%9.5f', relative (result.L - sets(i).L0, sets(i).L0));
      end
    end
    seconds = median_time (sets, r);
    if (seconds > 0)
      fprintf ('%10.3f ms%11.0f x', 1000 * seconds, seconds / fastest);
    end
    fprintf ('\n');
  end
end

function seconds = median_time (sets, r)
  times = arrayfun (@(set) median (set.results(r).seconds), sets);
  seconds = median (times);
end

% Mean over the pages of ||A|| / ||B||.
function value = relative (A, B)
  ratios = sqrt (sum (sum (A .^ 2, 1), 2) ./ sum (sum (B .^ 2, 1), 2));
  value = mean (ratios(:));
end

% The binding and its MEX file, which may be built beside it or in build/matlab.
function find_denise ()
  root = fileparts (fileparts (fileparts (mfilename ('fullpath'))));
  if (~ exist ('denise', 'file'))
    addpath (fullfile (root, 'bindings', 'matlab'));
  end
  if (~ exist ('denise_mex', 'file') && exist (fullfile (root, 'build', 'matlab'), 'dir'))
    addpath (fullfile (root, 'build', 'matlab'));
  end
  if (~ exist ('denise_mex', 'file'))
    error ('denise:make', 'the MEX file is not built: run make in %s', fullfile (root, 'bindings', 'matlab'));
  end
end
