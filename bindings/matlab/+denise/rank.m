function varargout = rank (varargin)
%RANK  The same as denise_rank: see help denise_rank.
%
%   See also DENISE_RANK, DENISE.

  [varargout{1:nargout}] = denise_rank (varargin{:});
end
