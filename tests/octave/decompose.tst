## What denise returns.

%!function batch = seven_matrices ()
%!  rand ("seed", 1);  randn ("seed", 1);
%!  batch = zeros (20, 20, 7);
%!  for q = 1:7
%!    u = randn (20, 3);  s = zeros (20);
%!    for e = 1:10
%!      i = ceil (20 * rand);  j = ceil (20 * rand);  s(i,j) = 2 * rand - 1;
%!    endfor
%!    batch(:,:,q) = u * u' + s + s';
%!  endfor
%!  batch = (batch + permute (batch, [2 1 3])) / 2;
%!endfunction

## The example of the help text: one pair stands out.
%!test
%! a = ones (5);  a(3,5) = a(5,3) = 1.5;
%! [l, s] = denise (a, 1);
%! assert (l, ones (5), 1e-3);
%! assert (s(3,5), 0.5, 1e-3);
%! assert (s(1,2), 0, 1e-3);

## L + S = M, L = U*U', both symmetric to the bit, for both classes, which are kept.
%!test
%! m = seven_matrices ()(:,:,1);
%! for class_of = {"double", "single"}
%!   a = cast (m, class_of{1});
%!   [l, s, u, report] = denise (a);
%!   assert ({class(l), class(s), class(u)}, repmat (class_of, 1, 3));
%!   assert (size (l), [20 20]);  assert (size (s), [20 20]);  assert (size (u), [20 3]);
%!   tolerance = 20 * eps (class_of{1}) * max (abs (a(:)));
%!   assert (l + s, a, tolerance);
%!   assert (u * u', l, tolerance);
%!   assert (isequal (l, l') && isequal (s, s'));
%!   assert (report.status, int32 (0));
%!   assert (report.l1, double (sum (abs (s(:)))), 1e-4 * report.l1);
%!   assert (report.residual, double (norm (a - l, "fro") / norm (a, "fro")), 1e-5);
%!   assert (report.sparsity, mean (abs (s(:)) <= 0.01 * trace (a) / 20), 1e-6);
%! endfor

## The sparse part is found: most of S is zero, which eigen-truncation does not achieve.
%!test
%! m = seven_matrices ()(:,:,1);
%! [~, ~, ~, report] = denise (m);
%! assert (report.sparsity > 0.9);

## Pages are what the matrices give one by one, to the bit, for any number of threads and of results.
%!test
%! batch = seven_matrices ();
%! for class_of = {"double", "single"}
%!   a = cast (batch, class_of{1});
%!   [l, s, u, report] = denise (a);
%!   assert (size (l), [20 20 7]);  assert (size (u), [20 3 7]);
%!   assert (size (report.l1), [7 1]);  assert (size (report.status), [7 1]);
%!   for q = 1:7
%!     [l1, s1, u1, report1] = denise (a(:,:,q));
%!     assert (isequal (l(:,:,q), l1) && isequal (s(:,:,q), s1) && isequal (u(:,:,q), u1));
%!     assert (report.residual(q), report1.residual);
%!   endfor
%!   assert (isequal (denise (a, "threads", 2), l));
%!   [l2, s2] = denise (a);
%!   [l3, s3, u3] = denise (a);
%!   assert (isequal (l2, l3, l) && isequal (s2, s3, s) && isequal (u3, u));
%! endfor

## k, as a number and by name; whatever the class of the number.
%!test
%! m = seven_matrices ()(:,:,1);
%! [l, ~, u] = denise (m, 2);
%! assert (size (u), [20 2]);
%! assert (rank (l, 1e-8), 2);
%! assert (isequal (denise (m, "k", 2), denise (m, "K", single (2)), denise (m, int8 (2)), l));
%! assert (isequal (denise (m), denise (m, 3)));

## The default rank fits small matrices.
%!test
%! [~, ~, u] = denise ([2 1; 1 2]);
%! assert (size (u), [2 1]);
%! [~, ~, u] = denise (eye (3));
%! assert (size (u), [3 2]);

## A model file: the shipped one is the built-in network.
%!test
%! m = seven_matrices ()(:,:,1);
%! assert (isequal (denise (m, "model", "models/default.onnx"), denise (m)));
%! [~, ~, u] = denise (m, "model", "models/default.onnx", "k", 4);
%! assert (size (u), [20 4]);

## No pages, no work.
%!test
%! [l, s, u, report] = denise (zeros (5, 5, 0, "single"));
%! assert (size (l), [5 5 0]);  assert (size (u), [5 3 0]);  assert (class (s), "single");
%! assert (isempty (report.l1));

## Scale: M in other units gives L in those units.
%!test
%! m = seven_matrices ()(:,:,1);
%! assert (denise (2^20 * m), 2^20 * denise (m));

## Asymmetry from rounding is fine; the upper triangle counts.
%!test
%! m = seven_matrices ()(:,:,1);
%! a = m;
%! a(5,2) = a(5,2) * (1 + 4 * eps);
%! assert (isequal (denise (a), denise (m)));
%! a = single (m);
%! a(5,2) = a(5,2) * (1 + 4 * eps ("single"));
%! assert (isequal (denise (a), denise (single (m))));

## NaN and Inf: a warning, NaN in that page, and the others as if nothing had happened.
%!warning id=denise:notFinite denise ([1 NaN; NaN 1]);
%!warning id=denise:notFinite denise (single ([Inf 0; 0 1]));
%!test
%! batch = seven_matrices ();
%! warning ("off", "denise:notFinite", "local");
%! a = batch;
%! a(3,3,2) = NaN;
%! a(4,6,5) = a(6,4,5) = -Inf;
%! [l, s, u, report] = denise (a);
%! bad = [2 5];  good = [1 3 4 6 7];
%! assert (all (isnan (l(:,:,bad)(:))) && all (isnan (s(:,:,bad)(:))) && all (isnan (u(:,:,bad)(:))));
%! assert (report.status, int32 ([0 7 0 0 7 0 0]'));
%! assert (isnan (report.l1), logical ([0 1 0 0 1 0 0]'));
%! whole = denise (batch);
%! assert (isequal (l(:,:,good), whole(:,:,good)));
%!warning <1 of 7 matrices have NaN or Inf \(the first is M\(:,:,4\)\)>
%! a = seven_matrices ();  a(1,1,4) = NaN;
%! denise (a);

## A warning that the user has made an error leaves things usable.
%!test
%! state = warning ("error", "denise:notFinite", "local");
%! fail ("denise (NaN (5), 'model', 'models/default.onnx')", "NaN or Inf");
%! assert (denise (eye (4)), denise (eye (4)));
