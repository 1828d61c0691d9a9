## denise_info, denise_solve, and the texts that help shows.

%!test
%! info = denise_info ();
%! assert (info.n, 20);  assert (info.k, 3);  assert (info.abi, 1);
%! assert (! isempty (regexp (info.version, '^\d+\.\d+\.\d+', "once")));
%! assert (! isempty (strfind (info.kernel, "unrolled")));
%! assert (isequal (denise_info ("models/default.onnx").n, 20));
%! assert (! isempty (strfind (evalc ("denise_info"), info.kernel)));
%!error id=denise:argument denise_mex ("info", 1, 2)

## Eigen-truncation against Octave's own eigenvalues.
%!test
%! m = cov (reshape (sin (1:2000), 100, 20));
%! [v, d] = eig (m);
%! [d, order] = sort (diag (d), "descend");
%! v = v(:,order(1:2));
%! [l, s] = denise_solve (m, "eigen", 2);
%! assert (l, v * diag (d(1:2)) * v', 1e-12);
%! assert (l + s, m, 1e-14);
%! pages = denise_solve (cat (3, m, 2 * m), "Eigen", 2);
%! assert (pages, cat (3, l, 2 * l), 1e-12);
%! assert (class (denise_solve (single (m), "eigen")), "single");

## The other methods work, or say that this build lacks them.
%!test
%! m = cov (reshape (sin (1:2000), 100, 20));
%! for method = {"pcp", "ialm", "fpcp", "rpca_gd"}
%!   try
%!     [l, s] = denise_solve (m, method{1});
%!     assert (size (l), [20 20]);
%!     assert (all (isfinite (l(:))) && all (isfinite (s(:))));
%!   catch failure
%!     assert (failure.identifier, "denise:unsupported");
%!   end_try_catch
%! endfor
%!warning id=denise:notFinite denise_solve ([NaN 1; 1 1], "eigen", 1);
%!error id=denise:argument denise_solve (eye (3))
%!error id=denise:argument denise_solve (eye (3), "magic")
%!error id=denise:argument denise_solve (eye (3), 7)
%!error id=denise:argument denise_solve (eye (3), "eigen", 1.5)
%!error id=denise:argument denise_solve (eye (3), "eigen", 2, NaN)
%!error id=denise:class denise_solve ({}, "eigen")
%!error id=denise:complex denise_solve (1i * eye (3), "eigen")
%!error id=denise:notSymmetric denise_solve ([1 2; 3 4], "eigen")
%!error id=denise:shape denise_solve (ones (2, 3), "eigen")

%!test
%! for name = {"denise", "denise_info", "denise_solve", "make"}
%!   [text, format] = get_help_text (name{1});
%!   assert (format, "plain text");
%!   assert (! isempty (strfind (text, upper (name{1}))));
%! endfor

## make says what is missing.
%!error id=denise:make make ("no/such/prefix")
%!test
%! old = getenv ("DENISE_PREFIX");
%! setenv ("DENISE_PREFIX", "/no/such/prefix");
%! unwind_protect
%!   fail ("make ()", "libdenise is not in: /no/such/prefix");
%! unwind_protect_cleanup
%!   setenv ("DENISE_PREFIX", old);
%! end_unwind_protect

## The script for the LRS library finds M and params in the workspace and leaves L and S there.
%!test
%! M = cov (reshape (sin (1:2000), 100, 20));
%! params = struct ("rows", 20);
%! run ("bindings/matlab/lrs/run_alg.m");
%! assert (isequal (L, denise (M)));
%! assert (L + S, M, 1e-14);
%! params.rank = 2;
%! run ("bindings/matlab/lrs/run_alg.m");
%! assert (isequal (L, denise (M, 2)));
