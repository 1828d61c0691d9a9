function t = timetable (values, names)
  t = class (struct ('values', values, 'Properties', struct ('VariableNames', {names})), 'timetable');
end
