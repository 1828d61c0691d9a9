function A = numbers_from (A, name)
% The array in what users hand over as the argument of that name: an array, or a table of numbers. An error that says
% what to do if it is of a class that cannot be taken.

  if (isa (A, 'timetable') || isa (A, 'table'))
    A = A{:,:};
  end
  if (isa (A, 'double') || isa (A, 'single'))
    return;
  elseif (isa (A, 'gpuArray') || isa (A, 'distributed') || isa (A, 'codistributed') || isa (A, 'tall'))
    error ('denise:class', '%s is a %s, which is not in the memory of this process: pass gather (%s)', name, ...
           class (A), name);
  elseif (isnumeric (A) || islogical (A))
    error ('denise:class', '%s must be of class single or double, not %s: pass double (%s)', name, class (A), name);
  else
    error ('denise:class', '%s must be a full array of class single or double, not %s', name, class (A));
  end
end
