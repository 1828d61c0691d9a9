function info = denise_info (varargin)
%DENISE_INFO  What libdenise is running.
%
%   denise_info prints the version of the library, its kernel, and the size
%   and rank that the built-in network has when none are given.
%
%   denise_info (net) and denise_info ('model.onnx') do so for a model that
%   denise opened, and for a file.
%
%   info = denise_info (...) returns a struct instead:
%      version  of the library
%      abi      number of its binary interface
%      kernel   network and instruction set, such as 'unrolled avx2'
%      n, k     the model's own size and rank
%      opened   model files that are open
%      loaded   models in memory, each for one size; at most 16 are kept
%      threads  threads of theirs that wait for work; at most as many as
%               there are CPUs are kept, and those that 64 calls did not use
%               are ended
%      streams  handles of streams that are open
%
%   See also DENISE, DENISE_STREAM, DENISE_PLOT, DENISE_SOLVE.

  found = denise_mex ('info', varargin{:});
  if (nargout > 0)
    info = found;
    return;
  end
  fprintf ('libdenise %s (ABI %d), kernel %s\n', found.version, found.abi, found.kernel);
  fprintf ('n = %d, k = %d unless told otherwise; %d opened, %d in memory, %d threads wait\n', ...
           found.n, found.k, found.opened, found.loaded, found.threads);
end
