function min_variance (window, step)
%MIN_VARIANCE  Portfolios of least variance, by three covariances of the same returns.
%
%   min_variance takes 20 stocks of the S&P 500. Every 21 days it makes the weights inv (Sigma) * ones, scaled to the
%   sum 1, from the 100 days before, holds them for the next 21 days, and prints the volatility that this had: with
%   equal weights, with the sample covariance, and with that of Denise.
%
%   min_variance (window, step) sets the days to look at and the days to hold (default 100 and 21). The sample needs
%   more than 20 days to look at, in which every stock moves: one that does not gets all of the weight.

  if (nargin < 1)
    window = 100;
  end
  if (nargin < 2)
    step = 21;
  end
  find_denise ();
  P = stock_prices ();
  if (isempty (P))
    error ('denise:io', 'the prices are missing: tests/data/sp500 belongs to the source tree');
  end
  n = size (P, 2);

  % All windows in three calls. Those of the sample need a loop.
  [L, S, U, ~, rows] = denise_rolling (P, window, 'step', step);
  M = L + S;
  [~, ~, d] = denise_covariance (M, U);
  w = denise_sigma_solve (U, d, ones (n, 1));
  weights = {ones(n, 1, numel (rows)), w, w};
  for q = 1:numel (rows)
    weights{2}(:,1,q) = M(:,:,q) \ ones (n, 1);
  end

  names = {'equal weights', 'least variance, sample', 'least variance, Denise'};
  returns = P(2:end,:) ./ P(1:end-1,:) - 1;
  fprintf ('%d stocks, %d portfolios, each made from %d days and held for %d\n\n', n, numel (rows), window, step);
  for i = 1:3
    gains = [];
    for q = 1:numel (rows)
      w = weights{i}(:,1,q) / sum (weights{i}(:,1,q));
      held = rows(q):min (rows(q) + step - 1, size (returns, 1));   % returns(rows(q),:) is that of the day after
      gains = [gains; returns(held,:) * w];
    end
    fprintf ('  %-26s%6.2f %% a year\n', names{i}, 100 * std (gains) * sqrt (252));
  end
end
