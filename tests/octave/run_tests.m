% Runs the cases of tests/matlab, and the files *.tst here, on the MEX file in build/matlab, which `make build-mex`
% builds.
% From the top of the tree:
%   octave-cli --no-history --norc tests/octave/run_tests.m [folder of the MEX file]

function run_tests (built)
  here = fileparts (mfilename ('fullpath'));
  root = fileparts (fileparts (here));
  addpath (fullfile (root, 'bindings', 'matlab'), built);
  addpath (fullfile (root, 'tests', 'matlab'), fullfile (here, 'fakes'), here);
  [passed, total] = run_cases ();
  files = dir (fullfile (here, '*.tst'));
  for i = 1:numel (files)
    [good, all] = test (fullfile (here, files(i).name), 'quiet', stderr);
    printf ('%s: %d passed, %d failed\n', files(i).name, good, all - good);
    if (all == 0)
      error ('no tests in %s', files(i).name);
    end
    passed += good;
    total += all;
  end
  printf ('octave: %d passed, %d failed\n', passed, total - passed);
  exit (passed ~= total || total == 0);
end

function [passed, total] = run_cases ()
  cases = denise_cases ();
  total = numel (cases);
  passed = 0;
  for i = 1:total
    why = run_case (cases(i));
    if (isempty (why))
      passed += 1;
    else
      fprintf (stderr, 'FAILED  %s\n        %s\n', cases(i).name, why);
    end
  end
  printf ('tests/matlab: %d passed, %d failed\n', passed, total - passed);
end

given = argv ();
if (isempty (given) || ! isempty (strfind (given{end}, 'run_tests.m')))
  given = {'build/matlab'};
end
run_tests (make_absolute_filename (given{end}));
