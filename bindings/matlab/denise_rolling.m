function [L, S, U, report, rows] = denise_rolling (P, window, varargin)
%DENISE_ROLLING  Split the correlations of rolling windows of prices.
%
%   [L, S, U, report, rows] = denise_rolling (P, window) takes the prices P,
%   one row per day and one column per asset, and splits the covariance of
%   each window of so many returns, from the first full window on. Means are
%   subtracted, and the split is that of the correlation matrix, scaled back.
%   L and S are n-by-n-by-T, U is n-by-k-by-T, in the class of P, and rows has
%   the row of P that each window ends with. In MATLAB P may be a timetable or
%   a table; P.Properties.RowTimes(rows) are then the dates.
%
%   Returns are P(t,:) ./ P(t-1,:) - 1. Prices are positive, or NaN where they
%   are not known: the returns that need them are then not known either, and a
%   pair of assets is taken over the days on which both have a return.
%
%   ... = denise_rolling (P, window, k) sets the largest rank of L (default 3).
%
%   ... = denise_rolling (P, window, 'Name', value, ...), or with a struct of
%   options, takes these options; [] stands for the default:
%      k            as above
%      step         results for every step-th window only (default 1); every
%                   day counts all the same
%      returns      true: P has returns already (default false)
%      correlation  false: split the covariance itself (default true)
%      demean       false: the means of the returns count as zero
%                   (default true)
%      warm_up, model   as for denise_stream
%
%   Results are those of a stream that gets the same returns day by day, to
%   the bit: what is tried out here on a table goes live with denise_stream
%   (n, 'window', window, 'correlation', true, 'demean', true).
%
%   It can be called as denise.rolling too.
%
%   See also DENISE_STREAM, DENISE.

  if (nargin < 2)
    error ('denise:argument', 'prices P and a window are needed: see help denise_rolling');
  end
  results = cell (1, 5);
  [results{1:max (nargout, 1)}] = denise_mex ('rolling', numbers_from (P, 'P'), window, varargin{:});
  [L, S, U, report, rows] = results{:};
end
