function varargout = solve (varargin)
%SOLVE  The same as denise_solve: see help denise_solve.
%
%   See also DENISE_SOLVE, DENISE.

  [varargout{1:nargout}] = denise_solve (varargin{:});
end
