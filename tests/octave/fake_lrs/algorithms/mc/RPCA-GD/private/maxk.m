function varargout = maxk (varargin)
  error ('this maxk needs a compiled file');
end
