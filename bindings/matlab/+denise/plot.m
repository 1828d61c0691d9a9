function varargout = plot (varargin)
%PLOT  The same as denise_plot: see help denise_plot.
%
%   See also DENISE_PLOT, DENISE.

  [varargout{1:nargout}] = denise_plot (varargin{:});
end
