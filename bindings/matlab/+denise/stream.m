function varargout = stream (varargin)
%STREAM  The same as denise_stream: see help denise_stream.
%
%   See also DENISE_STREAM, DENISE.

  [varargout{1:nargout}] = denise_stream (varargin{:});
end
