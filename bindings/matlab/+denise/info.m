function varargout = info (varargin)
%INFO  The same as denise_info: see help denise_info.
%
%   See also DENISE_INFO, DENISE.

  [varargout{1:nargout}] = denise_info (varargin{:});
end
