% A number from /proc/self/status, such as VmRSS (in kB) or Threads. A file, since `clear -functions` must not lose it.
function value = status_of (name)
  found = regexp (fileread ('/proc/self/status'), [name ':\s*(\d+)'], 'tokens');
  value = str2double (found{1}{1});
end
