function words = mex_arguments (here, prefix, target, octave, windows)
% What Octave's mkoctfile or MATLAB's mex is called with. All folders are absolute.
%
% On Linux the path of the library is written into the MEX file, so that it is found without LD_LIBRARY_PATH. On Windows
% the DLL is copied beside it. The sources are C11, which compilers that MATLAB R2018a supports do not take by default,
% or not after its -ansi. COMPFLAGS is what Visual C reads, and gcc does not.

  found = dir (fullfile (here, 'mex', '*.c'));
  sources = cellfun (@(name) fullfile (here, 'mex', name), {found.name}, 'UniformOutput', false);
  include = ['-I' fullfile(prefix, 'include')];
  folder = fullfile (prefix, 'lib');
  if (octave)
    compiled = [{'--mex', '-o', 'denise_mex.mex', '-std=gnu11', include}, sources];
    linked = {['-L' folder], '-ldenise', ['-Wl,-rpath,' folder]};
  else
    compiled = [{'-R2018a', '-output', 'denise_mex', '-outdir', target, 'CFLAGS=$CFLAGS -std=gnu11', include}, sources];
    linked = {['-L' folder], '-ldenise', ['LDFLAGS=$LDFLAGS -Wl,-rpath,"' folder '"']};
  end
  if (windows)
    linked = {fullfile(folder, 'denise.lib')};
    if (~ octave)
      linked{end+1} = 'COMPFLAGS=$COMPFLAGS /std:c11';
    end
  end
  words = [compiled, linked];
end
