% Denise: covariance matrices as low-rank plus sparse
%
% Split
%   denise         - Split covariance matrices into a low-rank and a sparse part
%   denise_stream  - Split the covariance of returns that come tick by tick; also denise.stream
%   denise_rolling - Split the correlations of rolling windows of prices; also denise.rolling
%   denise_plot    - Draw M = L + S as three heat maps; also denise.plot
%   denise_rank    - How many factors covariance matrices have; also denise.rank
%   denise_solve   - Split matrices with a classical method; also denise.solve
%
% Invert
%   denise_covariance     - Covariance matrices that can be inverted; also denise.covariance
%   denise_sigma_solve    - Sigma \ b, without Sigma; also denise.sigma_solve
%   denise_sigma_multiply - Sigma * b, without Sigma; also denise.sigma_multiply
%
% Set up
%   denise_info    - What libdenise is running; also denise.info
%   make           - Build the MEX file of libdenise, in MATLAB or in Octave
