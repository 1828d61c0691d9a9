function [M, L0] = synthetic (count, n, k, s0)
% The generator of the Denise paper: L0 = U*U' with normal U, and S0 made of random pairs (i,j) until its share of
% entries up to 0.01 is down to s0. Pairs are drawn as by the authors' code, which made the paper's tables: j from 2 to
% n, and then i below j. A pair puts b in [-1,1] at (i,j) and (j,i), and a in [|b|,1] at (i,i) and (j,j), in place of
% what an earlier pair put there.

  L0 = zeros (n, n, count);
  M = L0;
  for q = 1:count
    U = randn (n, k);
    S = zeros (n);
    while (nnz (abs (S) > 0.01) < (1 - s0) * n^2)
      j = 1 + ceil ((n - 1) * rand ());
      i = ceil ((j - 1) * rand ());
      b = 2 * rand () - 1;
      a = abs (b) + (1 - abs (b)) * rand ();
      S(i,j) = b;
      S(j,i) = b;
      S(i,i) = a;
      S(j,j) = a;
    end
    L = U * U';
    L0(:,:,q) = (L + L') / 2;
    M(:,:,q) = L0(:,:,q) + S;
  end
end
