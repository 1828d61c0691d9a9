function varargout = denise_info (model)
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
%
%   See also DENISE, DENISE_SOLVE.

  if (nargin == 0)
    info = denise_mex ('info');
  elseif (isa (model, 'string'))
    info = denise_mex ('info', char (model));
  else
    info = denise_mex ('info', model);
  end
  if (nargout > 0)
    varargout{1} = info;
    return;
  end
  fprintf ('libdenise %s (ABI %d), kernel %s\n', info.version, info.abi, info.kernel);
  fprintf ('n = %d, k = %d unless told otherwise; %d opened, %d in memory\n', info.n, info.k, info.opened, info.loaded);
end
