function lrs_batch ()
% The part of examples/cpp/compare_lrs that runs in Octave or MATLAB: reads the matrices that the program wrote, runs
% the methods of the LRS library on them, writes the results. The program says where, by the environment.

  folder = getenv ('COMPARE_FOLDER');
  n = str2double (getenv ('COMPARE_N'));
  k = str2double (getenv ('COMPARE_K'));
  if (~ exist ('OCTAVE_VERSION', 'builtin'))
    maxNumCompThreads (1);   % Octave's BLAS obeys OMP_NUM_THREADS
  end
  sets = dir (fullfile (folder, '*.f64'));
  for i = 1:numel (sets)
    [~, name] = fileparts (sets(i).name);
    settings = sscanf (fileread (fullfile (folder, [name '.txt'])), '%f');
    file = fopen (fullfile (folder, sets(i).name));
    M = reshape (fread (file, Inf, 'double'), n, n, settings(1));
    fclose (file);
    results = lrs_methods (getenv ('COMPARE_LRS'), M, k, settings(2));
    for r = 1:numel (results)
      base = fullfile (folder, sprintf ('%s.%d', name, r));   % by number: the program has the same list
      text = fopen ([base '.txt'], 'w');
      if (isempty (results(r).note))
        fprintf (text, '%.9g %s\n', median (results(r).seconds), strjoin (results(r).substitutes, ' '));
        file = fopen ([base '.f64'], 'w');
        fwrite (file, results(r).L, 'double');
        fclose (file);
      else
        fprintf (text, '- %s\n', strrep (results(r).note, sprintf ('\n'), ' '));
      end
      fclose (text);
    end
  end
end
