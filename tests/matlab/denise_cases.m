function cases = denise_cases ()
% The one table of tests of the binding. tests/octave/run_tests.m runs it in Octave, DeniseTest.m in MATLAB.
%
% A struct array: name; code, text or a function, which is run; id and pattern of the error or warning that it must end
% with, both '' if it must end well.

  words = refused ();
  checks = answers ();
  names = [words(:,1); cellfun(@func2str, checks, 'UniformOutput', false)];
  blank = repmat ({''}, numel (checks), 1);
  cases = struct ('name', names, 'code', [words(:,1); checks(:)], 'id', [words(:,2); blank], ...
                  'pattern', [words(:,3); blank]);
end
