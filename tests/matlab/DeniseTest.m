classdef DeniseTest < matlab.unittest.TestCase
% The tests of the binding in MATLAB: the cases are those that Octave runs. Build the MEX file, then
%   runtests ('tests/matlab')

  properties (TestParameter)
    one = named_cases ();
  end

  methods (TestClassSetup)
    function inTheTree (test)
      here = fileparts (mfilename ('fullpath'));
      root = fileparts (fileparts (here));
      test.applyFixture (matlab.unittest.fixtures.PathFixture (here));
      test.applyFixture (matlab.unittest.fixtures.PathFixture (fullfile (root, 'bindings', 'matlab')));
      test.applyFixture (matlab.unittest.fixtures.CurrentFolderFixture (root));
      built = fullfile (root, 'build', 'matlab');
      if (~ exist ('denise_mex', 'file') && exist (built, 'dir'))
        test.applyFixture (matlab.unittest.fixtures.PathFixture (built));
      end
    end
  end

  methods (Test)
    function case_holds (test, one)
      test.verifyEmpty (run_case (one));
    end
  end
end
