function time_calls (rounds)
%TIME_CALLS  What a matrix costs in MATLAB or Octave: microseconds through the MEX file.
%
%   time_calls prints the median time per 20-by-20 matrix of [L, S] = denise (M) and of L = denise (M), one matrix per
%   call and many, in double and in single. Part of it is the host's: the call, and fresh memory for the results.
%
%   time_calls (rounds) takes the median of so many rounds (default 15).

  if (nargin < 1)
    rounds = 15;
  end
  find_denise ();
  M = synthetic (100, 20, 3, 0.8);
  info = denise_info ();
  fprintf ('libdenise %s, kernel %s; microseconds per matrix of 20 x 20, rank 3, median of %d rounds\n\n', ...
           info.version, info.kernel, rounds);
  fprintf ('%22s%12s%12s%12s%12s\n', 'matrices in a call', '[L, S]', 'L alone', '[L, S]', 'L alone');
  fprintf ('%22s%24s%24s\n', '', 'double', 'single');
  for count = [1 10 100 1000 10000]
    fprintf ('%22d', count);
    for name = {'double', 'single'}
      A = cast (M(:,:,1 + mod (0:count-1, 100)), name{1});
      calls = max (1, round (300 / count));
      both = zeros (1, rounds);
      alone = zeros (1, rounds);
      for r = 0:rounds   % the first is for warmth
        start = tic ();
        for c = 1:calls
          [L, S] = denise (A);
        end
        between = tic ();
        for c = 1:calls
          L = denise (A);
        end
        alone(max (r, 1)) = toc (between);
        both(max (r, 1)) = toc (start) - alone(max (r, 1));
      end
      fprintf ('%12.1f%12.1f', 1e6 * median (both) / (calls * count), 1e6 * median (alone) / (calls * count));
    end
    fprintf ('\n');
  end
end
