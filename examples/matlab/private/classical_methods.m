function results = classical_methods (M, k, c)
% The methods of lrs_methods, as denise_solve has them, on every page of M: the same names, lambdas and rank.

  n = size (M, 1);
  methods = {
    'PCP',     'pcp',     c / sqrt(n);
    'PCP*',    'pcp',     1 / sqrt(n);
    'IALM',    'ialm',    c / sqrt(n);
    'IALM*',   'ialm',    1 / sqrt(n);
    'FPCP',    'fpcp',    [];
    'RPCA-GD', 'rpca_gd', []};
  for i = 1:size (methods, 1)
    results(i) = one_by_one (methods{i,1}, M, @(m) denise_solve (m, methods{i,2}, k, methods{i,3}));
  end
end
