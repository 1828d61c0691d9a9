function make (prefix, target)
%MAKE  Build the MEX file of libdenise, in MATLAB or in Octave.
%
%   make finds the library in this order: in DENISE_PREFIX (an environment
%   variable), in the source tree around this file (after `make stage` there),
%   in /usr/local, in /usr. The MEX file is written beside this file.
%
%   make (prefix) uses the library that `make install PREFIX=prefix` installed.
%   make (prefix, target) writes the MEX file into the folder target.
%
%   Then: addpath the folder of this file, and see help denise.

  here = fileparts (mfilename ('fullpath'));
  if (nargin < 2)
    target = here;
  end
  if (nargin < 1 || isempty (prefix))
    prefix = find_prefix (here);
  elseif (~ is_prefix (prefix))
    error ('denise:make', 'no libdenise in %s: include/denise.h and lib/libdenise.so should be there', prefix);
  end
  if (ispc ())
    error ('denise:make', 'libdenise is built for Linux: there is no MEX file for Windows yet');
  end

  % The path of the library is written into the MEX file, so that it is found without LD_LIBRARY_PATH.
  source = fullfile (here, 'denise_mex.c');
  include = ['-I' fullfile(prefix, 'include')];
  folder = fullfile (prefix, 'lib');
  fprintf ('building denise_mex with the library in %s\n', folder);
  clear denise_mex;
  if (exist ('OCTAVE_VERSION', 'builtin'))
    % Paths with spaces confuse mkoctfile only where it writes to.
    old = cd (target);
    back = onCleanup (@() cd (old));
    [output, status] = mkoctfile ('--mex', '-o', 'denise_mex.mex', include, source, ['-L' folder], '-ldenise', ...
                                  ['-Wl,-rpath,' folder]);
    if (status ~= 0)
      error ('denise:make', 'mkoctfile failed (on Debian it needs the package octave-dev)\n%s', output);
    end
    clear back;
  else
    mex ('-R2018a', include, ['-L' folder], '-ldenise', ['LDFLAGS=$LDFLAGS -Wl,-rpath,' folder], ...
         '-outdir', target, source);
  end

  % A first call, so that a library that cannot be loaded shows up here and not later.
  old = addpath (target, here);
  back = onCleanup (@() path (old));
  denise_info ();
  fprintf ('built. To use it: addpath %s\n', target);
end

function prefix = find_prefix (here)
  given = getenv ('DENISE_PREFIX');
  if (~ isempty (given))
    places = {given};
  else
    places = {fullfile(fileparts (fileparts (here)), 'build', 'stage'), '/usr/local', '/usr'};
  end
  for i = 1:numel (places)
    if (is_prefix (places{i}))
      prefix = places{i};
      return;
    end
  end
  error ('denise:make', ['libdenise is not in: %s\nRun `make stage` in the source tree, or `make install ' ...
                         'PREFIX=...` and then make (''that prefix'').'], strjoin (places, ', '));
end

function yes = is_prefix (folder)
  yes = exist (fullfile (folder, 'include', 'denise.h'), 'file') && exist (fullfile (folder, 'lib', 'libdenise.so'), 'file');
end
