function ties (lrs, out)
%TIES  What the LRS library makes of matrices whose entries or eigenvalues are equal: ties_*.npy.
%
%   ties (LRS, OUT) runs its RPCA-GD (rank 1 and 3, alpha 0.1) and FPCP (lambda 1/sqrt(n), rank 3) on 24 matrices and
%   writes them to the folder OUT. LRS is a copy of the library in which algorithms/mc/RPCA-GD/private/maxk.m has been
%   removed: it needs a MEX file for MATLAB. Functions for maxk and lansvd are taken from examples/matlab/fallback.
  here = fileparts (mfilename ('fullpath'));
  addpath (fullfile (lrs, 'algorithms', 'mc', 'RPCA-GD'));
  addpath (fullfile (lrs, 'algorithms', 'rpca', 'FPCP'));
  addpath (fullfile (lrs, 'libs', 'SVD'));
  fallback = fullfile (here, '..', '..', '..', 'examples', 'matlab', 'fallback');
  addpath (fullfile (fallback, 'lansvd'), fullfile (fallback, 'maxk'));
  n = 20;
  distance = abs ((1:n)' - (1:n));
  blocks = @(sizes, values) tied_blocks (sizes, values);
  m = {ones(n), constant(n, 0.3), constant(n, 0.7), blocks([7 7 6], [.8 .6 .7]), blocks([10 10], [.5 .5]), ...
       blocks([5 5 5 5], [1 1 1 1]), 0.9 .^ distance, 0.5 .^ distance, eye(n), 2 * eye(n) - ones(n) / n, ...
       constant(n, -0.04), blocks([2 18], [.9 .9])};
  stocks = read_npy (fullfile (here, 'M.npy'), n);
  for i = 37:48
    m{end+1} = round (100 * stocks(:,:,i)) / 100;
  end
  [rpca_1, rpca_3, fpcp] = deal (zeros (n, n, numel (m)));
  for i = 1:numel (m)
    evalc ('[u, v] = rpca_gd (m{i}, 1, 0.1, struct ());');
    rpca_1(:,:,i) = u * v';
    evalc ('[u, v] = rpca_gd (m{i}, 3, 0.1, struct ());');
    rpca_3(:,:,i) = u * v';
    fpcp(:,:,i) = fastpcp (m{i}, 1 / sqrt (n), 3, 1);
  end
  write_npy (fullfile (out, 'ties_M.npy'), cat (3, m{:}));
  write_npy (fullfile (out, 'ties_rpcagd_1_L.npy'), rpca_1);
  write_npy (fullfile (out, 'ties_rpcagd_3_L.npy'), rpca_3);
  write_npy (fullfile (out, 'ties_fpcp_L.npy'), fpcp);
end

function m = constant (n, c)
  m = c + (1 - c) * eye (n);
end

function m = tied_blocks (sizes, values)
  m = [];
  for b = 1:numel (sizes)
    m = blkdiag (m, constant (sizes(b), values(b)));
  end
end

function x = read_npy (name, n)
  file = fopen (name, 'r', 'ieee-le');
  fseek (file, 8, 'bof');
  fseek (file, 10 + fread (file, 1, 'uint16'), 'bof');
  x = reshape (fread (file, Inf, 'double'), n, n, []);   % symmetric: the order of rows and columns is the same
  fclose (file);
end

function write_npy (name, x)
  header = sprintf ('{''descr'': ''<f8'', ''fortran_order'': False, ''shape'': (%d, %d, %d), }', ...
                    size (x, 3), size (x, 1), size (x, 2));
  header = [header, repmat(' ', 1, 117 - numel (header)), char(10)];
  file = fopen (name, 'w', 'ieee-le');
  fwrite (file, [147, double('NUMPY'), 1, 0], 'uint8');
  fwrite (file, numel (header), 'uint16');
  fwrite (file, header, 'char');
  fwrite (file, permute (x, [2 1 3]), 'double');
  fclose (file);
end
