function find_denise ()
% Puts the binding on the path, and its MEX file, which may be built beside it or in build/matlab.

  root = fileparts (fileparts (fileparts (fileparts (mfilename ('fullpath')))));
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
