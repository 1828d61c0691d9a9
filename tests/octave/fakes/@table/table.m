function t = table (values, names, rows)
  t = class (struct ('values', values, 'Properties', struct ('VariableNames', {names}, 'RowNames', {rows})), 'table');
end
