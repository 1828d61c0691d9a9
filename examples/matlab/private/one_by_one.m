function result = one_by_one (name, M, call)
% Every page of M by itself, timed. The first runs twice, for warmth.

  blank = NaN (size (M));
  result = struct ('name', name, 'L', blank, 'S', blank, 'seconds', NaN (1, size (M, 3)), 'note', '', ...
                   'substitutes', {{}});
  try
    [~, ~] = call (M(:,:,1));
    for q = 1:size (M, 3)
      start = tic ();
      [L, S] = call (M(:,:,q));
      result.seconds(q) = toc (start);
      result.L(:,:,q) = L;
      result.S(:,:,q) = S;
    end
  catch problem
    if (strcmp (problem.identifier, 'denise:unsupported'))
      result.note = 'not in this build';
    else
      result.note = problem.message;
    end
  end
end
