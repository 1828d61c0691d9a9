function varargout = rolling (varargin)
%ROLLING  The same as denise_rolling: see help denise_rolling.
%
%   See also DENISE_ROLLING, DENISE.

  [varargout{1:nargout}] = denise_rolling (varargin{:});
end
