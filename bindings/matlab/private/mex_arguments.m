function words = mex_arguments (here, prefix, target, octave)
% What Octave's mkoctfile or MATLAB's mex is called with. All folders are absolute.
%
% The path of the library is written into the MEX file, so that it is found without LD_LIBRARY_PATH. The sources are
% C11, which compilers that MATLAB R2018a supports do not take by default, or not after its -ansi.

  found = dir (fullfile (here, 'mex', '*.c'));
  sources = cellfun (@(name) fullfile (here, 'mex', name), {found.name}, 'UniformOutput', false);
  include = ['-I' fullfile(prefix, 'include')];
  folder = fullfile (prefix, 'lib');
  if (octave)
    words = [{'--mex', '-o', 'denise_mex.mex', '-std=gnu11', include}, sources, ...
             {['-L' folder], '-ldenise', ['-Wl,-rpath,' folder]}];
  else
    words = [{'-R2018a', '-output', 'denise_mex', '-outdir', target, 'CFLAGS=$CFLAGS -std=gnu11', include}, sources, ...
             {['-L' folder], '-ldenise', ['LDFLAGS=$LDFLAGS -Wl,-rpath,"' folder '"']}];
  end
end
