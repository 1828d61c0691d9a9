function names = substitute (name)
%SUBSTITUTE  Remembers which of the functions below this folder have run.
%
%   substitute (name) is called by each of them. names = substitute () returns what has run since it was last
%   asked, so that a comparison can say what it compared with.
  persistent known
  if (isempty (known))
    known = {};
  end
  if (nargin > 0)
    if (~ any (strcmp (name, known)))
      known{end+1} = name;
    end
  else
    names = known;
    known = {};
  end
end
