function make (prefix, target)
%MAKE  Build the MEX file of libdenise, in MATLAB or in Octave.
%
%   make finds the library in this order: in DENISE_PREFIX (an environment
%   variable), beside this file (in the toolbox), in the binary tarball around
%   this file, in the source tree around this file (after `make stage` there),
%   in /usr/local, in /usr. The MEX file is written beside this file.
%
%   make (prefix) uses the library that `make install PREFIX=prefix` installed.
%   make (prefix, target) writes the MEX file into the folder target.
%   Both may be relative or start with ~.
%
%   On Windows, prefix is the folder with bin, include and lib that docs/WINDOWS.md
%   describes. denise.dll is copied beside the MEX file.
%
%   Then: addpath the folder of this file, and see help denise.

  here = fileparts (mfilename ('fullpath'));
  if (nargin < 1 || isempty (prefix))
    prefix = find_prefix (here);
  end
  if (nargin < 2)
    target = here;
  end
  prefix = absolute (prefix, 'prefix');
  target = absolute (target, 'target');
  if (~ is_prefix (prefix))
    error ('denise:make', 'no libdenise in %s: include/denise.h and %s should be there', ...
           prefix, library_name ());
  end

  fprintf ('building denise_mex with the library in %s\n', fullfile (prefix, 'lib'));
  clear denise_mex;
  octave = exist ('OCTAVE_VERSION', 'builtin') ~= 0;
  words = mex_arguments (here, prefix, target, octave, ispc ());
  if (octave)
    build_in_octave (words, target);
  else
    mex (words{:});
  end
  if (ispc ())
    [good, message] = copyfile (fullfile (prefix, library_name ()), target);
    if (~ good)
      error ('denise:make', 'cannot copy denise.dll into %s: %s', target, message);
    end
  end

  % A first call, so that a library that cannot be loaded shows up here and not later.
  old = addpath (target, here);
  back = onCleanup (@() path (old));
  denise_info ();
  fprintf ('built. To use it: addpath %s\n', here);
  if (~ strcmp (target, here))
    fprintf ('                  addpath %s\n', target);
  end
end

% mkoctfile leaves objects where it runs, and spaces confuse it in the name that it writes to.
function build_in_octave (words, target)
  objects = tempname ();
  mkdir (objects);
  old = cd (objects);
  back = onCleanup (@() leave (old, objects));
  [output, status] = mkoctfile (words{:});
  if (status ~= 0)
    error ('denise:make', 'mkoctfile failed with status %d: the compiler''s messages are above\n%s', status, output);
  end
  [good, message] = copyfile ('denise_mex.mex', target);
  if (~ good)
    error ('denise:make', 'cannot write denise_mex.mex into %s: %s', target, message);
  end
end

function leave (old, folder)
  cd (old);
  delete (fullfile (folder, '*'));
  rmdir (folder);
end

function prefix = find_prefix (here)
  given = getenv ('DENISE_PREFIX');
  if (~ isempty (given))
    places = {given};
  else
    above = fileparts (fileparts (here));
    places = {here, fileparts(above), fullfile(above, 'build', 'stage'), '/usr/local', '/usr'};
    if (ispc ())
      places = {here, fileparts(above), fullfile(above, 'build', 'windows', 'stage')};
    end
  end
  for i = 1:numel (places)
    if (is_prefix (home (places{i})))
      prefix = places{i};
      return;
    end
  end
  error ('denise:make', ['libdenise is not in: %s\nRun `make stage` in the source tree, or `make install ' ...
                         'PREFIX=...` and then make (''that prefix'').'], strjoin (places, ', '));
end

function yes = is_prefix (folder)
  yes = exist (fullfile (folder, 'include', 'denise.h'), 'file') && ...
        exist (fullfile (folder, library_name ()), 'file');
end

% Where the library is in a prefix.
function name = library_name ()
  if (ispc ())
    name = fullfile ('bin', 'denise.dll');
  else
    name = fullfile ('lib', 'libdenise.so');
  end
end

% Compilers and the loader know neither ~ nor the folder that this was called in. A path that is absolute stays as it
% is: a link in it may be meant to change.
function folder = absolute (folder, what)
  given = char (folder);
  folder = home (given);
  if (~ exist (folder, 'dir'))
    error ('denise:make', '%s: there is no folder %s', what, given);
  end
  if (folder(1) ~= '/' && isempty (regexp (folder, '^([A-Za-z]:|\\\\)', 'once')))
    old = cd (folder);
    folder = pwd ();
    cd (old);
  end
end

function folder = home (folder)
  if (strcmp (folder, '~') || strncmp (folder, '~/', 2))
    folder = [getenv('HOME') folder(2:end)];
  end
end
