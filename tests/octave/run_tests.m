% Builds the MEX file into build/matlab and runs all tests here. From the top of the tree:
%   octave-cli --no-history --norc tests/octave/run_tests.m PREFIX

function run_tests (arguments)
  here = fileparts (mfilename ('fullpath'));
  root = fileparts (fileparts (here));
  binding = fullfile (root, 'bindings', 'matlab');
  built = fullfile (root, 'build', 'matlab');
  [~, ~] = mkdir (built);
  addpath (binding, here);
  make (arguments{1}, built);
  addpath (built);
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
  exit (passed ~= total);
end

run_tests (argv ());
