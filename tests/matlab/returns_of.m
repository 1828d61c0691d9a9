function r = returns_of (ticks)
% Returns of 6 assets, some of which are not known: the same in every host.
  t = (1:ticks)';
  r = 0.01 * (sin (t * [1.7 2.3 3.1 4.3 5.9 7.1]) + sin (0.9 * t .* t) * [1 0.8 0.6 0.9 1.1 0.7]);
  r(7:11:end,2) = NaN;
end
