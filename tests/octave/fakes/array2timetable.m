function t = array2timetable (values, varargin)
  assert (strcmp (varargin([1 3]), {'RowTimes', 'VariableNames'}));
  t = timetable (values, varargin{4});
end
