function [L, S] = PCP (M, lambda, tolerance)
  assert (any (abs (lambda * sqrt (size (M, 1)) - [0.6 1]) < 0.1) && tolerance == 1e-5);
  disp ('something that must not reach the table');
  L = M;
  S = 0 * M;
end
