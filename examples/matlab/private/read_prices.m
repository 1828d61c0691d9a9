function prices = read_prices (file)
% The numbers of a table with a line of names and, in every other line, a date and numbers. An empty field is NaN.
%
% By hand, since nothing else gives the same in MATLAB and Octave: dlmread fails on dates in MATLAB, textscan rounds
% wrongly in Octave, and Octave has no readtable.

  lines = strsplit (strtrim (strrep (fileread (file), sprintf ('\r'), '')), sprintf ('\n'));
  columns = sum (lines{1} == ',');
  numbers = strjoin (regexprep (lines(2:end), '^[^,]*', ''), '');   % ,1.25,100.0,1.5,99.125
  numbers = regexprep (numbers, ',(?=,|$)', ',NaN');
  prices = reshape (sscanf (numbers, ',%f'), columns, [])';
end
