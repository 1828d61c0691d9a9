function results = lrs_methods (lrs, M, k, c)
% Runs PCP, IALM, FPCP and RPCA-GD of the LRS library in the folder lrs on every page of M, called as the Denise
% paper does: lambda = c / sqrt (n) for PCP and IALM, rank k for the other two. PCP* and IALM* have the LRS library's
% own lambda, 1 / sqrt (n). classical_methods.m has the same list for denise_solve.
%
% One struct per method: name, L, S (pages as in M), seconds (one per page), note (why there are none, or ''),
% substitutes (functions of ours that ran inside, such as {'lansvd'}).
% The library's own setup is not needed, and nothing is written into its folder.

  n = size (M, 1);
  gd = struct ('step_const', 0.5, 'max_iter', 30, 'tol', 2e-4);
  pcp = @(lambda) @(m) both (@() PCP (m, lambda, 1e-5));
  ialm = @(lambda) @(m) both (@() inexact_alm_rpca (m, lambda));
  fpcp = @(m) both (@() fastpcp (m, 1 / sqrt (n), k));
  descent = @(m) factors (m, @() rpca_gd (m, k, 0.1, gd));
  methods = {
    'PCP',     {'rpca', 'PCP'},    'PCP',              pcp(c / sqrt (n));
    'PCP*',    {'rpca', 'PCP'},    'PCP',              pcp(1 / sqrt (n));
    'IALM',    {'rpca', 'IALM'},   'inexact_alm_rpca', ialm(c / sqrt (n));
    'IALM*',   {'rpca', 'IALM'},   'inexact_alm_rpca', ialm(1 / sqrt (n));
    'FPCP',    {'rpca', 'FPCP'},   'fastpcp',          fpcp;
    'RPCA-GD', {'mc', 'RPCA-GD'},  'rpca_gd',          descent};

  old = path ();
  back = onCleanup (@() path (old));
  add (fullfile (lrs, 'libs', 'SVD'));
  add (fullfile (lrs, 'libs', 'PROPACK'));
  fallback = fullfile (fileparts (fileparts (mfilename ('fullpath'))), 'fallback');
  add (fallback);
  if (~ exist ('lansvd', 'file'))
    add (fullfile (fallback, 'lansvd'));   % PROPACK is a submodule that a plain clone does not bring
  end

  results = struct ('name', methods(:,1), 'L', NaN (size (M)), 'S', NaN (size (M)), 'seconds', NaN (1, size (M, 3)), ...
                    'note', '', 'substitutes', {{}});
  for i = 1:numel (results)
    folder = fullfile (lrs, 'algorithms', methods{i,2}{:});
    file = fullfile (folder, [methods{i,3} '.m']);
    if (~ exist (file, 'file'))
      results(i).note = ['missing: ' file];
      continue;
    end
    add (folder);
    try
      results(i) = run_all (results(i), methods{i,4}, M);
    catch first
      % RPCA-GD has a maxk of its own that needs a compiled file: Octave cannot load that, newer MATLABs may not.
      if (strcmp (methods{i,1}, 'RPCA-GD'))
        results(i) = with_own_maxk (results(i), methods{i,4}, M, folder, fallback);
      else
        results(i).note = first.message;
      end
    end
  end
end

% Every page, timed one by one. What the methods print is swallowed. The first page runs twice, for warmth.
function result = run_all (result, call, M)
  L = M;
  S = M;
  seconds = zeros (1, size (M, 3));
  substitute ();   % forgets earlier ones
  evalc ('[~, ~] = call (M(:,:,1));');
  for q = 1:size (M, 3)
    evalc ('start = tic (); [L(:,:,q), S(:,:,q)] = call (M(:,:,q)); seconds(q) = toc (start);');
  end
  result.L = L;
  result.S = S;
  result.seconds = seconds;
  result.substitutes = substitute ();
end

% Runs RPCA-GD from a temporary folder that holds its two functions without the private folder, so that the
% maxk of this example is found.
function result = with_own_maxk (result, call, M, folder, fallback)
  temporary = tempname ();
  mkdir (temporary);
  names = {'rpca_gd.m', fullfile('private', 'Tproj_partial.m')};
  try
    for i = 1:numel (names)
      copyfile (fullfile (folder, names{i}), temporary);
    end
    rmpath (folder);
    add (temporary);
    add (fullfile (fallback, 'maxk'));
    result = run_all (result, call, M);
  catch problem
    result.note = problem.message;
  end
  rmpath (temporary);
  delete (fullfile (temporary, '*.m'));
  rmdir (temporary);
end

function [L, S] = both (call)
  [L, S] = call ();
end

function [L, S] = factors (m, call)
  [u, v] = call ();
  L = u * v';
  S = m - L;
end

function add (folder)
  if (exist (folder, 'dir'))
    addpath (folder);
  end
end
