M = ones (5);                 % five assets that move as one,
M(3,5) = 1.5;  M(5,3) = 1.5;  % but for one pair
[L, S, U, report] = denise (M, 1);   % L = U*U' of rank 1, S sparse, L + S = M
fprintf ('ok: M = %.2f is L = %.2f plus S = %.2f\n', M(3,5), L(3,5), S(3,5));
