function varargout = sigma_multiply (varargin)
%SIGMA_MULTIPLY  The same as denise_sigma_multiply: see help denise_sigma_multiply.
%
%   See also DENISE_SIGMA_MULTIPLY, DENISE.

  [varargout{1:nargout}] = denise_sigma_multiply (varargin{:});
end
