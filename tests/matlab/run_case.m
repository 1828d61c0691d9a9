function why = run_case (one)
% Runs one case of denise_cases. Returns '' if it went as it should, else what went wrong.

  state = warning ();
  back = onCleanup (@() warning (state));
  warning ('on', 'denise:notFinite');
  warning ('on', 'denise:singular');
  lastwarn ('', '');
  id = '';
  message = '';
  try
    if (ischar (one.code))
      evalc (one.code);
    else
      evalc ('one.code ()');
    end
    [message, id] = lastwarn ();
  catch problem
    id = problem.identifier;
    message = problem.message;
    if (isempty (id))
      id = 'none';
    end
  end
  why = '';
  if (isempty (one.id))
    if (~ isempty (message))
      why = sprintf ('should pass, but: [%s] %s', id, message);
    end
  elseif (~ strcmp (id, one.id))
    why = sprintf ('should end with %s, but: [%s] %s', one.id, id, message);
  elseif (isempty (regexp (message, one.pattern, 'once')))
    why = sprintf ('should say ''%s'', but says: %s', one.pattern, message);
  end
end
