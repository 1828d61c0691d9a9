function draw (file, M, names, parts)
% Heat maps of M and, for each name, of L and S (parts is a cell with one row {L, S} per name), as a PNG. Opens a window
% where there is a screen. Works without one, and without a program that plots: then the maps come without titles.

  limit = max (abs (M(:)));
  state = warning ('off', 'Octave:gnuplot-graphics');   % it is the one that works without a screen
  back = onCleanup (@() warning (state));
  try
    screen = has_screen ();
    if (screen)
      window = figure ('name', 'Denise and others');
    else
      window = figure ('visible', 'off');
    end
    columns = numel (names) + 1;
    tile (1, columns, 1, M, 'M', limit);   % the one tile between the two rows
    for i = 1:numel (names)
      tile (2, columns, i + 1, parts{i,1}, [names{i} ': L'], limit);
      tile (2, columns, columns + i + 1, parts{i,2}, [names{i} ': S'], limit);
    end
    colormap (blue_white_red ());
    set (window, 'paperunits', 'inches', 'paperposition', [0 0 2*columns 4.2]);
    print (window, '-dpng', '-r100', file);
    if (~ screen)
      close (window);
    end
    fprintf ('drawn: %s\n', file);
  catch problem
    plain (file, M, parts, limit);
    fprintf ('drawn without titles, since plotting failed (%s): %s\n', strtok (problem.message, sprintf ('\n')), file);
    fprintf ('upper row: M, then L of %s; lower row: S of each\n', strjoin (names, ', '));
  end
end

function tile (rows, columns, place, A, name, limit)
  subplot (rows, columns, place);
  imagesc (A, [-limit limit]);
  axis ('square', 'off');
  title (name);
end

% The same picture made by hand: every entry a square of eight pixels.
function plain (file, M, parts, limit)
  n = size (M, 1);
  rows = cell (1, 2);
  for r = 1:2
    tiles = {M};
    if (r == 2)
      tiles = {zeros(n)};
    end
    for i = 1:size (parts, 1)
      tiles{end+1} = parts{i,r};
    end
    for i = 1:numel (tiles)
      tiles{i} = [kron(tiles{i}, ones (8)), zeros(8 * n, 8)];
    end
    rows{r} = [horzcat(tiles{:}); zeros(8, 8 * (n + 1) * numel (tiles))];
  end
  map = blue_white_red ();
  level = round ((max (min (vertcat (rows{:}) / limit, 1), -1) + 1) / 2 * (size (map, 1) - 1)) + 1;
  picture = zeros ([size(level), 3]);
  for c = 1:3
    channel = map(:,c);
    picture(:,:,c) = channel(level);
  end
  imwrite (uint8 (round (255 * picture)), file);
end

function map = blue_white_red ()
  up = linspace (0, 1, 32)';
  map = [up up ones(32, 1); ones(32, 1) flipud(up) flipud(up)];
end

function yes = has_screen ()
  if (exist ('OCTAVE_VERSION', 'builtin'))
    yes = ~ isempty (getenv ('DISPLAY'));
    if (~ yes && any (strcmp (available_graphics_toolkits (), 'gnuplot')))
      graphics_toolkit ('gnuplot');
    end
  else
    yes = usejava ('desktop');
  end
end
