function compare_lrs (lrs, count, picture)
%COMPARE_LRS  Denise beside PCP, IALM, FPCP and RPCA-GD: a table and a picture.
%
%   compare_lrs runs them on synthetic matrices and on correlations of stocks, by denise_solve. If LRS_PATH, a
%   variable of the environment, is a clone of the LRS library, its own functions run too: each method then has two
%   rows. The LRS library's are programs that MATLAB or Octave interprets; what the network gains is seen against
%   the rows of libdenise, which are compiled like it.
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
    ours = classical_methods (M, k, sets(i).c);
    theirs = ours([]);
    if (~ isempty (lrs))
      theirs = lrs_methods (lrs, M, k, sets(i).c);
    end
    for r = 1:numel (ours)
      if (~ isempty (theirs))
        results(end+1) = labelled (theirs(r), 'LRS library', results);
      end
      results(end+1) = labelled (ours(r), 'libdenise', results);
    end
    results(end+1) = one_by_one ('eigen-truncation, libdenise', M, @(m) denise_solve (m, 'eigen', k));
    nothing = struct ('name', 'L = M (do nothing)', 'L', M, 'S', 0 * M, 'seconds', 0, 'note', '', 'substitutes', {{}});
    results(end+1) = orderfields (nothing, results);
    sets(i).results = results;
  end

  info = denise_info ();
  fprintf ('libdenise %s, kernel %s; %d x %d matrices, rank %d, %d in each column, one per call\n\n', ...
           info.version, info.kernel, n, n, k, count);
  print_table (sets);
  fprintf ('\n  * with lambda = 1/sqrt(n), as the LRS library calls it; else with the value of the Denise paper.\n');
  if (~ isempty (lrs))
    print_conditions (sets);
  else
    fprintf ('\nThese are libdenise''s own versions of the methods. For the LRS library''s beside them:\n');
    fprintf ('  git clone --recursive https://github.com/andrewssobral/lrslibrary\n');
    fprintf ('  compare_lrs (''lrslibrary'')\n');
  end

  results = sets(end).results(1:end-1);   % all but L = M
  names = {results.name};
  twice = ~ cellfun ('isempty', strfind (names, '*'));
  if (~ isempty (lrs))   % of each method the row of the LRS library
    twice = twice | [false, cellfun(@strcmp, strtok (names(2:end), ','), strtok (names(1:end-1), ','))];
  end
  results = results(cellfun ('isempty', {results.note}) & ~ twice);
  parts = cell (numel (results), 2);
  for r = 1:numel (results)
    parts(r,:) = {results(r).L(:,:,1), results(r).S(:,:,1)};
  end
  fprintf ('\n');
  draw (picture, sets(end).M(:,:,1), strtok ({results.name}, ','), parts);
end

function result = labelled (result, source, like)
  result.name = [result.name ', ' source];
  result = orderfields (result, like);
end

% What the times of the LRS library depend on.
function print_conditions (sets)
  host = 'MATLAB';
  if (exist ('OCTAVE_VERSION', 'builtin'))
    host = 'Octave';
  end
  fprintf ('\nThe LRS library ran in %s %s, which interprets it; libdenise is compiled. So the last column\n', ...
           host, version ());
  fprintf ('compares programs, not methods: for methods, compare rows of libdenise with Denise. All times contain\n');
  fprintf ('what a call costs %s itself, some 0.05 ms; examples/cpp/compare_lrs times libdenise without it.\n', host);
  names = {'lansvd', 'maxk'};
  reasons = {'svd (PROPACK, a submodule of the library, is not there)', 'sort (its compiled maxk does not load)'};
  for r = 1:numel (sets(1).results)
    for name = sets(1).results(r).substitutes
      fprintf ('Substitute in %s: %s by %s.\n', sets(1).results(r).name, name{1}, reasons{strcmp (name{1}, names)});
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
  fprintf ('%13s%13s', 'one matrix', 'to Denise');
  if (any (~ cellfun ('isempty', strfind ({sets(1).results.name}, 'LRS library'))))
    fprintf ('%17s', 'to libdenise''s');
  end
  fprintf ('\n');
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
      fprintf ('%10.3f ms%11.1f x', 1000 * seconds, seconds / fastest);
    end
    if (~ isempty (strfind (sets(1).results(r).name, 'LRS library')))
      same = median_time (sets, r + 1);   % the row below is the same method
      if (seconds > 0 && same > 0)
        fprintf ('%15.0f x', seconds / same);
      end
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
