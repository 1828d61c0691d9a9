function varargout = covariance (varargin)
%COVARIANCE  The same as denise_covariance: see help denise_covariance.
%
%   See also DENISE_COVARIANCE, DENISE.

  [varargout{1:nargout}] = denise_covariance (varargin{:});
end
