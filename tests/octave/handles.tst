## Models that are opened and closed, and the life of the MEX file.

## Numbers that are no models: closed, invented, of another class or size.
%!test
%! net = denise ("models/default.onnx");
%! other = denise ("models/default.onnx");
%! assert (net != other);
%! denise (net, "close");
%! fail ("denise (net, eye (3))", "not an open model");
%! fail ("denise (net, 'close')", "not an open model");
%! denise (other, "close");
%!error id=denise:shape net = denise ("models/default.onnx"); denise (net, ones (2, 3))
%!error id=denise:argument net = denise ("models/default.onnx"); denise (net, eye (4), "model", "models/default.onnx")

## A model from before a clear is gone, and no later one takes its number.
%!test
%! net = denise ("models/default.onnx");
%! clear denise_mex
%! again = denise ("models/default.onnx");
%! assert (again > net);
%! fail ("denise (net, eye (3))", "not an open model");
%! assert (size (denise (again, eye (5))), [5 5]);
%! denise (again, "close");

## More sizes than are kept in memory.
%!test
%! for n = [2:60 2:60]
%!   assert (size (denise (eye (n))), [n n]);
%! endfor
%! assert (denise_info ().loaded <= 16);

## Threads wait only as long as they may be needed: more than there are CPUs end with the call, others when 64 calls did
## not use them.
%!test
%! batch = repmat (matrices (1), [1 1 100]);
%! clear denise_mex
%! denise (batch);
%! before = status_of ("Threads");
%! denise (batch, "threads", 256);
%! assert (status_of ("Threads"), before);
%! info = denise_info ();
%! assert (info.threads, 0);
%! denise (batch, "threads", 2);
%! assert (status_of ("Threads"), before + 1);
%! info = denise_info ();
%! assert (info.threads, 1);
%! net = denise ("models/default.onnx", "threads", 2);
%! for n = 5:40  # as many models with threads
%!   denise (eye (n), "threads", 2);
%!   denise (net, eye (n));
%!   assert (status_of ("Threads") <= before + nproc ());
%! endfor
%! for i = 1:65
%!   denise (eye (3));
%! endfor
%! assert (status_of ("Threads"), before);
%! assert (denise (net, batch), denise (batch));  # ready again when it is needed
%! denise (net, "close");
%! assert (status_of ("Threads"), before);

## The table of files is finite, says so, and is usable again afterwards.
%!test
%! nets = zeros (1, 0, "uint64");
%! caught = "";
%! try
%!   for i = 1:300
%!     nets(end+1) = denise ("models/default.onnx");
%!   endfor
%! catch failure
%!   caught = failure.identifier;
%! end_try_catch
%! assert (caught, "denise:handle");
%! assert (numel (nets) > 200);
%! for net = nets
%!   denise (net, "close");
%! endfor
%! net = denise ("models/default.onnx");
%! denise (net, "close");

## Hundreds of lives: open, run with threads, clear with everything still open. Neither memory nor threads grow.
%!test
%! m = cov (reshape (sin (1:2000), 100, 20));
%! for i = 1:320
%!   if (i == 20)
%!     memory = status_of ("VmRSS");  threads = status_of ("Threads");
%!   endif
%!   net = denise ("models/default.onnx", "threads", 2);
%!   l = denise (net, m);
%!   assert (isequal (denise (m, "threads", 3), l));
%!   switch (mod (i, 3))
%!     case 0
%!       clear denise_mex
%!     case 1
%!       clear -functions
%!     case 2
%!       denise (net, "close");
%!   endswitch
%! endfor
%! clear denise_mex
%! assert (status_of ("Threads") <= threads);
%! assert (status_of ("VmRSS") - memory < 8 * 1024);  # kB; the bytes of one file a life would be twice that

## The same without clearing: cached models, files read in every call.
%!test
%! for i = 1:220
%!   if (i == 20)
%!     memory = status_of ("VmRSS");  threads = status_of ("Threads");
%!   endif
%!   net = denise ("models/default.onnx", "threads", 2);
%!   denise (net, eye (20));
%!   denise (eye (20), "model", "models/default.onnx", "threads", 2);
%!   denise (net, "close");
%! endfor
%! assert (status_of ("Threads") <= threads);
%! assert (status_of ("VmRSS") - memory < 8 * 1024);

## A hundred thousand calls, with a diagonal matrix and the name of an option: nothing of either is lost.
%!test
%! m = eye (3);
%! for i = 1:100000
%!   if (i == 5000)
%!     memory = status_of ("VmRSS");
%!   endif
%!   denise_mex ("decompose", m, "k", 1);
%! endfor
%! assert (status_of ("VmRSS") - memory < 1024);

## Covariances and products, refused or with a warning, lose no memory.
%!test
%! warning ("off", "denise:singular", "local");
%! m = matrices (4);
%! m(:,:,2) = 0;
%! for i = 1:3000
%!   if (i == 500)
%!     memory = status_of ("VmRSS");
%!   endif
%!   [~, ~, d, ~, u] = denise_covariance (m);
%!   denise_covariance (m, u);
%!   denise_sigma_solve (u(:,:,[1 3]), d(:,[1 3]), ones (20, 50));
%!   assert (! isempty (try_message (@() denise_covariance (m, u, "floor", 2))));
%!   assert (! isempty (try_message (@() denise_sigma_solve (u, d, ones (19, 1)))));
%! endfor
%! assert (status_of ("VmRSS") - memory < 1024);

## A stream from before a clear is gone, and no later handle takes its number. Streams do not need the model they came
## from.
%!test
%! st = denise_stream (6);
%! assert (denise_info ().streams >= 1);
%! clear denise_mex
%! assert (denise_info ().streams, 0);
%! again = denise_stream (6);
%! assert (again > st);
%! fail ("denise_stream (st, ones (1, 6))", "not an open stream");
%! fail ("denise_stream (st, 'close')", "not an open stream");
%! l = denise_stream (again, returns_of (20));
%! denise_stream (again, "reset");
%! for n = 2:40  # more models than are kept
%!   denise (eye (n));
%! endfor
%! assert (isequaln (denise_stream (again, returns_of (20)), l));
%! denise_stream (again, "close");
%! fail ("denise_stream (again, 'save')", "not an open stream");
%! assert (denise_info ().streams, 0);

## The table of streams is finite, says so, and is usable again afterwards.
%!test
%! clear denise_mex
%! all = zeros (1, 0, "uint64");
%! for i = 1:256
%!   all(end+1) = denise_stream (4);
%! endfor
%! fail ("denise_stream (4)", "256 streams are open");
%! assert (size (denise_rolling (ones (9, 4), 5)), [4 4 4]);  # needs no place in it
%! denise_stream (all(7), "close");
%! st = denise_stream (4);
%! fail ("denise_stream (all(7), ones (1, 4))", "not an open stream");
%! clear denise_mex

## Refused calls, and rolling windows that end with an error, lose no memory; nor do lives.
%!test
%! r = returns_of (200);
%! p = [ones(300, 6); 0 * ones(1, 6)];
%! for i = 1:600
%!   if (i == 100)
%!     memory = status_of ("VmRSS");
%!   endif
%!   st = denise_stream (6, "window", 100, "streams", 20);
%!   denise_rolling (r, 100, "returns", true);
%!   assert (! isempty (try_message (@() denise_rolling (p, 100))));
%!   assert (! isempty (try_message (@() denise_stream (st, r))));
%!   denise_stream (st, "restore", denise_stream (st, "save"));
%!   if (mod (i, 2))
%!     denise_stream (st, "close");
%!   else
%!     clear denise_mex
%!   endif
%! endfor
%! assert (status_of ("VmRSS") - memory < 4 * 1024);
