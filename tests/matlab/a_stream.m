function st = a_stream (n, streams)
% A stream for a test that must end with an error, and then cannot close it: the next test does.
  persistent last
  if (~ isempty (last))
    try
      denise_stream (last, 'close');
    catch
      % the test has closed it
    end
  end
  st = denise_stream (n, 'streams', streams);
  last = st;
end
