function [L, S, U, report] = denise_stream (st, R, varargin)
%DENISE_STREAM  Split the covariance of returns that come tick by tick.
%
%   st = denise_stream (n) makes a stream of n assets. At every tick it takes
%   their returns, estimates their covariance anew, and splits it, from where
%   the last split was: L moves as little as it must, in a fraction of the
%   time that denise takes.
%
%   [L, S, U, report] = denise_stream (st, R) is a tick. R has n returns, in
%   which NaN is one that is not known. Results are those of denise, and have
%   the class of R. Without results, denise_stream (st, R) takes the returns
%   in and returns nothing. Before the first split the results are NaN, and
%   report.status is 10. U moves continuously: no column flips or changes
%   places.
%
%   R may have T rows, for T ticks, one after another. L and S are then
%   n-by-n-by-T, U is n-by-k-by-T, and the report has T rows. In MATLAB R may
%   be a timetable or a table of returns.
%
%   st = denise_stream (n, 'Name', value, ...), denise_stream (n, k, ...) and
%   denise_stream (n, options), where options is a struct, take these options;
%   [] stands for the default:
%      k            the largest rank of L (default 3): k < n, at most 32
%      half_life    ticks until an observation counts half (default 60)
%      window       ticks of a moving window, in place of half_life
%      demean       true: subtract the means of the returns (default false)
%      correlation  true: split the correlation matrix and scale back
%                   (default false)
%      warm_up      ticks before the first split, and times that two assets
%                   must have been seen together before their covariance
%                   counts as known (default 2*k, or the window if shorter)
%      streams      B independent streams in one handle, which is faster than
%                   B handles (default 1)
%      missing      true: NaN in M is an entry that is not known; see below
%      model        a model file to use in place of the built-in network
%
%   With B streams, R is n-by-B for one tick and n-by-B-by-T for T ticks, and
%   L is n-by-n-by-B and n-by-n-by-B-by-T; fields of the report are B-by-1 and
%   B-by-T. Each stream has the results that it would have alone, to the bit.
%
%   [L, S, U, report] = denise_stream (st, 'matrices', M) is a tick of your own
%   covariances: n-by-n, n-by-n-by-T for T ticks, or n-by-n-by-B-by-T. There
%   is no warm-up, and the estimate from returns stays as it is.
%
%   C = denise_stream (st, 'covariance') is the estimate, NaN where too little
%   is known: n-by-n-by-B, in double.
%
%   [Sigma, inverse, d, logdet] = denise_stream (st, 'sigma', U) makes of the U
%   of the last tick, and of the variances that the stream estimates, a
%   covariance that can be inverted: see help denise_covariance. They have the
%   class of U; with B streams Sigma is n-by-n-by-B, d is n-by-B and logdet is
%   B-by-1. If U has more ticks, the last one is taken. The option floor may
%   follow: denise_stream (st, 'sigma', U, 'floor', 0.05). After a tick of
%   'matrices' use denise_covariance (M, U), and for every tick of a table
%   denise_covariance (L + S, U).
%
%   state = denise_stream (st, 'save') is all that the streams know, as uint8.
%   denise_stream (st, 'restore', state) takes them back there, or others with
%   the same n and options: they go on with the same bits.
%   denise_stream (st, 'reset') forgets everything.
%   ... = denise_stream (st, 'save', b), denise_stream (st, 'restore', state, b)
%   and denise_stream (st, 'reset', b) do so for stream b only.
%
%   denise_stream (st, 'close') frees the streams. `clear all` frees what is
%   left. The handle st belongs to this process: parfor workers make their own.
%   It does not copy: after st2 = st both are the same streams.
%
%   A tick with Inf, or with a return beyond 1e100, does not count. Its results
%   are NaN, its status is 7, report.first_bad is the asset, and there is the
%   warning denise:notFinite. Errors have the identifiers that help denise
%   lists. A call that is refused changes nothing.
%
%   Example:
%      st = denise_stream (20, 'window', 100, 'correlation', true);
%      for t = 1:size (returns, 1)
%        [L, S] = denise_stream (st, returns(t,:));
%      end
%      denise_stream (st, 'close');
%
%   It can be called as denise.stream too.
%
%   See also DENISE_ROLLING, DENISE_COVARIANCE, DENISE, DENISE_INFO.

  if (nargin == 2 && isa (st, 'uint64') && (isa (R, 'double') || isa (R, 'single')))
    % Spelt out by number of results, which costs Octave less than varargout.
    if (nargout == 0)
      denise_mex ('stream_push', st, R);
    elseif (nargout == 1)
      L = denise_mex ('stream_push', st, R);
    elseif (nargout == 2)
      [L, S] = denise_mex ('stream_push', st, R);
    elseif (nargout == 3)
      [L, S, U] = denise_mex ('stream_push', st, R);
    else
      [L, S, U, report] = denise_mex ('stream_push', st, R);
    end
  elseif (nargin == 0)
    error ('denise:argument', 'n, the number of assets, or a stream is missing: see help denise_stream');
  elseif (~ isa (st, 'uint64'))
    if (nargin > 1)
      varargin = [{R}, varargin];
    end
    L = denise_mex ('stream_new', st, varargin{:});
  elseif (nargin == 1)
    error ('denise:argument', 'returns or a word are expected after the stream: see help denise_stream');
  else
    word = 'push';
    values = varargin;
    if (ischar (R) || isa (R, 'string'))
      word = command (R);
    else
      values = [{numbers_from(R, 'R')}, varargin];
    end
    names = struct ('matrices', 'M', 'sigma', 'U');
    if (isfield (names, word) && ~ isempty (values))
      values{1} = numbers_from (values{1}, names.(word));
    end
    results = cell (1, 4);
    wanted = max (nargout, any (strcmp (word, {'covariance', 'sigma', 'save'})));
    [results{1:wanted}] = denise_mex (['stream_' word], st, values{:});
    if (wanted > 0)
      [L, S, U, report] = results{:};
    end
  end
end

function word = command (given)
  words = {'matrices', 'covariance', 'sigma', 'save', 'restore', 'reset', 'close'};
  word = lower (char (given));
  if (~ any (strcmp (word, words)))
    error ('denise:argument', 'unknown word ''%s'' after the stream: there are returns, or %s', word, ...
           strjoin (words, ', '));
  end
end
