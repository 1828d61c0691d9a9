function [A, names] = matrix_from (M)
% The array in what users hand over as M, and the names of its columns if it has names ({} if not). An error that says
% what to do if M is of a class that cannot be taken.

  names = {};
  A = M;
  if (isa (M, 'double') || isa (M, 'single'))
    return;
  elseif (isa (M, 'timetable'))   % one row per time: returns, not yet a matrix
    names = M.Properties.VariableNames;
    A = cov (M{:,:});
  elseif (isa (M, 'table'))
    names = M.Properties.VariableNames;
    A = M{:,:};
    if (size (A, 1) ~= size (A, 2))
      error ('denise:shape', ['M is a table of %d-by-%d: a matrix has as many rows as variables. For a table of ' ...
                              'returns, pass cov (M{:,:})'], size (A, 1), size (A, 2));
    end
  end
  A = numbers_from (A, 'M');
end
