function batch = matrices (count)
% count covariance matrices of 20-by-20, rank 3 plus some pairs that stand out: the same in every host.
  batch = zeros (20, 20, count);
  for q = 1:count
    u = 2 * sin ((1:20)' * [1.7 3.1 5.3] * (q + 0.4));
    s = zeros (20);
    for e = 1:10
      i = 1 + mod (7 * e + 3 * q, 20);
      j = 1 + mod (11 * e + q * q, 20);
      s(i,j) = cos (13 * e + q);
    end
    m = u * u' + s + s';
    batch(:,:,q) = (m + m') / 2;
  end
end
