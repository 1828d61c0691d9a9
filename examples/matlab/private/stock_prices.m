function prices = stock_prices ()
% Prices of 20 S&P 500 stocks, one row per day. [] if the file with them is not there.

  root = fileparts (fileparts (fileparts (fileparts (mfilename ('fullpath')))));
  packed = fullfile (root, 'tests', 'data', 'sp500', 'sp500_dataset.csv.gz');
  prices = [];
  if (~ exist (packed, 'file'))
    return;
  end
  folder = tempname ();
  mkdir (folder);
  unpacked = gunzip (packed, folder);
  prices = read_prices (unpacked{1});
  delete (unpacked{1});
  rmdir (folder);
end
