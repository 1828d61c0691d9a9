function [L, S] = inexact_alm_rpca (M, lambda)
  error ('the fake IALM fails');
end
