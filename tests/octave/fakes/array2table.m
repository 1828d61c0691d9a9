function t = array2table (values, varargin)
  options = struct ('VariableNames', {{}}, 'RowNames', {{}});
  for i = 1:2:numel (varargin)
    options.(varargin{i}) = varargin{i+1};
  end
  assert (numel (options.VariableNames) == size (values, 2));
  assert (any (numel (options.RowNames) == [0, size(values, 1)]));
  t = table (values, options.VariableNames, options.RowNames);
end
