## Bad arguments: each has an identifier and is refused before the library is called.

%!error id=denise:argument denise ()
%!error id=denise:class denise ({1})
%!error id=denise:class denise (int32 (eye (3)))
%!error id=denise:class denise (true (3))
%!error id=denise:class denise (struct ())
%!error id=denise:class denise (sparse (eye (3)))
%!error id=denise:complex denise (eye (3) * (1 + 2i))
%!error id=denise:complex denise (single (eye (3)) * (1 + 2i))
%!error id=denise:shape denise ([])
%!error id=denise:shape denise (1)
%!error id=denise:shape denise (ones (3, 4))
%!error id=denise:shape denise (ones (3, 4, 2))
%!error id=denise:shape denise (ones (3, 3, 2, 2))
%!error id=denise:shape denise (zeros (0, 0, 5))
%!error id=denise:shape denise (1:4)

%!error id=denise:notSymmetric denise ([1 2; 3 1])
%!error <M\(1,2\) = 2 but M\(2,1\) = 3> denise ([1 2; 3 1])
%!error <M\(:,:,2\)> denise (cat (3, eye (2), [1 2; 3 1]))
%!error id=denise:notSymmetric denise ([1 NaN; 0 1])
%!error id=denise:notSymmetric denise ([1 0; NaN 1])
%!error id=denise:notSymmetric denise ([1 Inf; -Inf 1])
%!error id=denise:notSymmetric denise (single ([1 1.001; 1 1]))

%!error id=denise:argument denise (eye (4), 0)
%!error id=denise:argument denise (eye (4), 4)
%!error id=denise:argument denise (eye (4), 1.5)
%!error id=denise:argument denise (eye (4), -1)
%!error id=denise:argument denise (eye (4), NaN)
%!error id=denise:argument denise (eye (4), Inf)
%!error id=denise:argument denise (eye (4), [1 2])
%!error id=denise:argument denise (eye (4), [])
%!error id=denise:argument denise (eye (4), 1i)
%!error id=denise:argument denise (eye (4), 1, 2)
%!error id=denise:argument denise (eye (4), "k")
%!error id=denise:argument denise (eye (4), "k", "2")
%!error id=denise:argument denise (eye (4), {})
%!error id=denise:argument denise (eye (4), "threads", 0)
%!error id=denise:argument denise (eye (4), "threads", 100000)
%!error id=denise:argument denise (eye (4), "model", 7)
%!error id=denise:unsupported denise (eye (40), 33)
%!error id=denise:unsupported denise (eye (513))
%!error <unknown option 'rank': there are k, threads and model> denise (eye (4), "rank", 2)

%!error id=denise:io denise ("no/such/model.onnx")
%!error id=denise:io denise (".")
%!error id=denise:io denise (eye (4), "model", "no/such/model.onnx")
%!error id=denise:io denise_info ("no/such/model.onnx")
%!error id=denise:format denise ("Makefile")
%!error id=denise:format denise (eye (4), "model", "Makefile")
%!error id=denise:argument denise ("models/default.onnx", "model", "models/default.onnx")

%!error id=denise:argument denise_mex ()
%!error id=denise:argument denise_mex (1)
%!error id=denise:argument denise_mex ("no such command")
%!error id=denise:argument denise_mex ("decompose")
%!error id=denise:argument denise_mex ("open")
%!error id=denise:argument denise_mex ("close")
%!error id=denise:argument denise_mex ("solve")

## A failed call leaves no model behind.
%!test
%! before = denise_info ().opened;
%! for i = 1:50
%!   try, denise ("Makefile"); catch, end
%!   try, denise (eye (4), "model", "Makefile"); catch, end
%! endfor
%! assert (denise_info ().opened, before);
