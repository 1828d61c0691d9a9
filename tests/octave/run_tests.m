% Runs all tests here on the MEX file in build/matlab, which `make build-mex` builds. From the top of the tree:
%   octave-cli --no-history --norc tests/octave/run_tests.m

function run_tests ()
  here = fileparts (mfilename ('fullpath'));
  root = fileparts (fileparts (here));
  addpath (fullfile (root, 'bindings', 'matlab'), fullfile (root, 'build', 'matlab'), here);
  passed = total = 0;
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

run_tests ();
