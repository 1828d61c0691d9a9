function varargout = sigma_solve (varargin)
%SIGMA_SOLVE  The same as denise_sigma_solve: see help denise_sigma_solve.
%
%   See also DENISE_SIGMA_SOLVE, DENISE.

  [varargout{1:nargout}] = denise_sigma_solve (varargin{:});
end
