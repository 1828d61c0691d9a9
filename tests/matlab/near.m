function near (a, b, tolerance)
% Fails unless a and b have one size and differ by at most the tolerance.
  assert (isequal (size (a), size (b)));
  assert (max (abs (double (a(:)) - double (b(:)))) <= tolerance);
end
