% The message of the error that a call ends with; '' if there is none.
function message = try_message (call)
  message = '';
  try
    call ();
  catch problem
    message = problem.message;
  end
end
