function M = stock_windows (count)
% Correlations of 20 S&P 500 stocks in windows of 100 days, `count` of them spread over the years that no network
% was trained on. [] if the file with the prices is not there.

  prices = stock_prices ();
  if (isempty (prices))
    M = [];
    return;
  end
  returns = prices(2:end,:) ./ prices(1:end-1,:) - 1;
  windows = floor ((size (returns, 1) - 100) / 5) + 1;
  first = floor (0.77 * windows);
  M = zeros (size (returns, 2), size (returns, 2), count);
  for q = 1:count
    start = 5 * (first + floor ((q - 1) * (windows - first) / count));
    c = cov (returns(start+1:start+100,:));
    d = sqrt (diag (c));
    c = c ./ (d * d');
    M(:,:,q) = (c + c') / 2;
  end
end
