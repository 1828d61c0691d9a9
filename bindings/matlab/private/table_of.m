function A = table_of (A, names)
% A as a table whose rows and variables have these names; A itself if there are no names or A is not there.

  if (~ isempty (names) && ~ isempty (A))
    A = array2table (A, 'VariableNames', names, 'RowNames', names);
  end
end
