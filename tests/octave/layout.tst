## The folder that MATLAB users get: syntax, help, signatures, drawing, and how it is built.

## The class for matlab.unittest has all cases, and notices when one does not hold.
## (First: parsing its file below makes Octave forget the class.)
%!test
%! tests = DeniseTest ();
%! names = fieldnames (tests.one);
%! assert (numel (names), numel (denise_cases ()));
%! one = tests.one.(names{3});
%! tests.case_holds (one);
%! one.id = "denise:other";
%! fail ("tests.case_holds (one)", "should end with denise:other");

%!function files = sources ()
%!  folders = {"bindings/matlab", "bindings/matlab/private", "bindings/matlab/+denise", "bindings/matlab/lrs", ...
%!             "examples/matlab", "examples/matlab/private", "examples/matlab/fallback/lansvd", ...
%!             "examples/matlab/fallback/maxk", "tests/matlab"};
%!  files = {};
%!  for folder = folders
%!    found = dir (fullfile (folder{1}, "*.m"));
%!    assert (! isempty (found), folder{1});
%!    files = [files, fullfile(folder{1}, {found.name})];
%!  endfor
%!endfunction

%!function found = extensions (file)
%!  lastwarn ("", "");
%!  warning ("on", "Octave:language-extension");
%!  evalc ("__parse_file__ (file)");
%!  warning ("off", "Octave:language-extension");
%!  found = lastwarn ();
%!  lastwarn ("", "");
%!  words = '\<(end(if|for|while|switch|function|_try_catch)|unwind_protect\w*)\>|^\s*#';  # of these it does not warn
%!  found = [found, strjoin(regexp(fileread (file), words, "match", "lineanchors"))];
%!endfunction

## Every file is written in the language that both have: Octave parses it, and sees no extension of its own in it.
%!test
%! DeniseTest ();  # parsing a class runs what its properties are set to: Octave's own files must be in memory by then
%! for file = sources ()
%!   assert (extensions (file{1}), "");
%! endfor
%! name = [tempname() ".m"];
%! for word = {"a = ! true;\n", "a = 1; a += 1;\n", "if (1), a = 1; endif\n", "a = b != 1;\n", "# a\n"}  # are found
%!   fid = fopen (name, "w");  fputs (fid, word{1});  fclose (fid);
%!   assert (! isempty (extensions (name)), word{1});
%!   delete (name);
%! endfor

## Every function for users has a help text, a line in Contents.m and a signature; nothing else has.
%!test
%! found = dir ("bindings/matlab/*.m");
%! names = sort (setdiff (cellfun (@(f) f(1:end-2), {found.name}, "UniformOutput", false), "Contents"));
%! for name = names
%!   [text, format] = get_help_text (name{1});
%!   assert (format, "plain text");
%!   assert (! isempty (strfind (text, upper (name{1}))));
%! endfor
%! listed = regexp (fileread ("bindings/matlab/Contents.m"), '(?m)^%   (\w+) +- ', "tokens");
%! assert (sort ([listed{:}]), names);
%! signatures = jsondecode (fileread ("bindings/matlab/resources/functionSignatures.json"));
%! assert (sort (setdiff (fieldnames (signatures)', "_schemaVersion")), names);

## Options in the signatures are those that the function takes, and no other; so are the methods.
%!function takes (call, option)
%!  try
%!    call (option);
%!  catch problem
%!    error ("%s: %s", option, problem.message);
%!  end_try_catch
%!endfunction
%!test
%! signatures = jsondecode (fileread ("bindings/matlab/resources/functionSignatures.json"));
%! calls = struct ("denise", @(name) denise (eye (4), name, []), ...
%!                 "denise_covariance", @(name) denise_covariance (eye (4), name, []), ...
%!                 "denise_rank", @(name) denise_rank (eye (4), name, []), ...
%!                 "denise_solve", @(name) denise_solve (eye (4), "eigen", name, []), ...
%!                 "denise_stream", @(name) denise_stream (denise_stream (4, name, []), "close"), ...
%!                 "denise_rolling", @(name) denise_rolling (ones (9, 4), 5, name, []));
%! for [call, name] = calls
%!   inputs = signatures.(name).inputs;
%!   options = {inputs(ismember ({inputs.kind}, {"ordered", "namevalue"})).name};
%!   for option = options
%!     takes (call, option{1});
%!   endfor
%!   known = regexp (try_message (@() call ("nothing")), "there are (.*)$", "tokens"){1}{1};
%!   assert (sort (strsplit (known, {", ", " and "})), sort (options));
%! endfor
%! inputs = signatures.denise_solve.inputs;
%! methods = regexp (inputs(2).type, "'(\\w+)'", "tokens");
%! known = regexp (try_message (@() denise_solve (eye (4), "nothing")), "there are (.*)$", "tokens"){1}{1};
%! assert (strsplit (known, ", "), [methods{:}]);

## Heat maps, by either name; what they show; what may follow M.
%!test
%! warning ("off", "Octave:gnuplot-graphics", "local");
%! visible = get (0, "defaultfigurevisible");
%! set (0, "defaultfigurevisible", "off");
%! unwind_protect
%!   m = matrices (1);
%!   [l, s] = denise (m, 2);
%!   net = denise ("models/default.onnx");
%!   for window = [denise_plot(m, 2), denise.plot(m, "k", 2), denise_plot(net, m, struct ("k", 2))]
%!     maps = findobj (window, "type", "image");
%!     assert (get (maps, "cdata"), {s; l; m});
%!     limits = get (findobj (window, "type", "axes"), "clim");
%!     assert (isequal (limits{:}, [-1 1] * max (abs (m(:)))));
%!     titles = get (cell2mat (get (findobj (window, "type", "axes"), "title")), "string");
%!     assert (titles{2}, "L, rank 2");
%!     close (window);
%!   endfor
%!   denise (net, "close");
%!   window = denise.plot (array2table (m(1:3,1:3), "VariableNames", {"A", "B", "C"}));
%!   assert (get (findobj (window, "type", "axes")(1), "yticklabel"), {"A"; "B"; "C"});
%!   close (window);
%!   close (denise_plot (single (zeros (4))));
%! unwind_protect_cleanup
%!   set (0, "defaultfigurevisible", visible);
%! end_unwind_protect

## The path of the library in the MEX file is absolute: for folders with a space, relative ones, and ~.
%!test
%! prefix = getenv ("DENISE_PREFIX");
%! if (isempty (prefix))
%!   prefix = fullfile (pwd (), "build", "stage");
%! endif
%! old = pwd ();  home = getenv ("HOME");  paths = path ();
%! work = tempname ();
%! unwind_protect
%!   mkdir (work);  mkdir (work, "in here");  mkdir (work, "to");
%!   assert (symlink (prefix, fullfile (work, "pre fix")), 0);
%!   cd (fullfile (work, "in here"));
%!   setenv ("HOME", work);
%!   expected = {canonicalize_file_name(prefix), fullfile(work, "pre fix")};
%!   for given = [{"../pre fix", "~/pre fix"}; expected]
%!     text = evalc ("make (given{1}, '../to')");
%!     assert (! isempty (strfind (text, fullfile (work, "to"))));
%!     [~, dynamic] = system (["readelf -d '" fullfile(work, "to", "denise_mex.mex") "'"]);
%!     assert (! isempty (strfind (dynamic, ["runpath: [" given{2} "/lib]"])), dynamic);
%!     assert (! isempty (strfind (text, "libdenise")));
%!   endfor
%! unwind_protect_cleanup
%!   cd (old);  setenv ("HOME", home);  path (paths);
%!   clear denise_mex
%!   confirm_recursive_rmdir (false, "local");
%!   rmdir (work, "s");
%! end_unwind_protect

## A failure of the compiler is not blamed on a missing package.
%!test
%! work = tempname ();  paths = path ();
%! unwind_protect
%!   mkdir (work);  mkdir (work, "include");  mkdir (work, "lib");
%!   fclose (fopen (fullfile (work, "lib", "libdenise.so"), "w"));
%!   fid = fopen (fullfile (work, "include", "denise.h"), "w");
%!   fputs (fid, "#include <no/such/file.h>\n");
%!   fclose (fid);
%!   warning ("off", "all", "local");
%!   said = try_message (@() evalc (sprintf ("make ('%s', '%s')", work, work)));
%!   assert (! isempty (strfind (said, "mkoctfile failed")), said);
%!   assert (isempty (strfind (said, "octave-dev")));
%! unwind_protect_cleanup
%!   path (paths);
%!   confirm_recursive_rmdir (false, "local");
%!   rmdir (work, "s");
%! end_unwind_protect
%!test
%! old = getenv ("DENISE_PREFIX");
%! setenv ("DENISE_PREFIX", "/no/such/prefix");
%! unwind_protect
%!   fail ("make ()", "libdenise is not in: /no/such/prefix");
%! unwind_protect_cleanup
%!   setenv ("DENISE_PREFIX", old);
%! end_unwind_protect

## The example reads prices beside dates as they are.
%!test
%! old = cd ("examples/matlab/private");
%! unwind_protect
%!   prices = read_prices ("../../../tests/octave/prices.csv");
%! unwind_protect_cleanup
%!   cd (old);
%! end_unwind_protect
%! assert (prices, [1.25 100; 1.5 99.125; NaN 98]);
