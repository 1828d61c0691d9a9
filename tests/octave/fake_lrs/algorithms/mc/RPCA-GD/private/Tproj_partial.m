function S = Tproj_partial (S, a, b)
  [~, places] = maxk (abs (S), floor (a * size (S, 1)), 1, 'sorting', false);
  mask = sparse (places, 1:size (S, 2), 1, size (S, 1), size (S, 2));
  S = S .* mask;
end
