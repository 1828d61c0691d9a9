export PATH="$PWD/target/release:$PATH"
cp tests/data/sp500/sp500_dataset.csv.gz prices.csv.gz           # a date and 20 prices in each line
denise decompose prices.csv.gz --table prices --out split        # rolling correlations, split: L.npy, S.npy, U.npy
denise covariance prices.csv.gz --out sigma                      # covariances of 250 days, and their inverses
denise rank prices.csv.gz                                        # how many factors there are
denise finetune prices.csv.gz --table prices --out tuned         # weights for these prices; half a minute
denise plot prices.csv.gz --table prices --model tuned/model.onnx --index 1642 -o window.png
denise info tuned/model.onnx                                     # what was learnt
denise eval --model tuned/model.onnx --count 100                 # beside the classical methods
cp tests/data/panels/futures12.csv.gz gaps.csv.gz                # late listings, ended series, holidays
denise decompose gaps.csv.gz --table prices --missing --out all  # windows over the days that each pair has
