function varargout = one_class (varargin)
% The arrays, all in single if one of them is, as the host does it when it adds them; else as they are.

  varargout = varargin;
  if (any (cellfun (@(A) isa (A, 'single'), varargin)))
    varargout = cellfun (@single, varargin, 'UniformOutput', false);
  end
end
