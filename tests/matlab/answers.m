function checks = answers ()
% What the binding must return. Every function below is one test, and fails by assert.
  checks = localfunctions ();
end

% The example of the help text: one pair stands out.
function example_of_the_help ()
  a = ones (5);
  a(3,5) = 1.5;
  a(5,3) = 1.5;
  [l, s] = denise (a, 1);
  near (l, ones (5), 1e-3);
  assert (abs (s(3,5) - 0.5) < 1e-3 && abs (s(1,2)) < 1e-3);
end

% L + S = M, L = U*U', both symmetric to the bit, for both classes, which are kept.
function parts_and_report ()
  for name = {'double', 'single'}
    a = cast (matrices (1), name{1});
    [l, s, u, report] = denise (a);
    assert (isa (l, name{1}) && isa (s, name{1}) && isa (u, name{1}));
    assert (isequal (size (l), [20 20]) && isequal (size (s), [20 20]) && isequal (size (u), [20 3]));
    tolerance = 20 * eps (name{1}) * max (abs (a(:)));
    near (l + s, a, tolerance);
    near (u * u', l, tolerance);
    assert (isequal (l, l') && isequal (s, s'));
    assert (isequal (report.status, int32 (0)));
    near (report.l1, sum (abs (s(:))), 1e-4 * report.l1);
    near (report.residual, norm (a - l, 'fro') / norm (a, 'fro'), 1e-5);
    near (report.sparsity, mean (abs (s(:)) <= 0.01 * trace (a) / 20), 1e-6);
    near (report.least_specific, min (diag (s) ./ diag (a)), 1e-4);
    assert (report.unsettled >= 0 && report.unsettled < 0.1);
    assert (report.missing == 0 && report.first_bad == 0);
  end
end

% With the option the units of the assets do not matter; U is in the units of M, and canonical.
function units_do_not_matter ()
  m = matrices (1);
  d = diag (10 .^ mod (1:20, 5));
  [l, ~, u] = denise (m, 'correlation', true);
  near (d * l * d, denise (d * m * d, 3, struct ('correlation', 1)), 1e-9 * max (max (d * l * d)));
  near (u * u', l, 1e-12 * max (l(:)));
  [~, ~, u] = denise (m);
  g = u' * u;
  near (g, diag (diag (g)), 1e-10 * g(1,1));
  assert (issorted (-diag (g)));
  [~, row] = max (abs (u));
  assert (all (u(sub2ind (size (u), row, 1:3)) > 0));
end

% With the option too, L + S = M and L = U*U'.
function careful_splits_too ()
  m = matrices (1);
  [l, s, u] = denise (m, 3, 'careful', true);
  near (l + s, m, 1e-12);
  near (u * u', l, 1e-12 * max (l(:)));
end

% NaN is an entry that is not known: L has it, S does not, and other pages keep their bits.
function missing_entries_are_found ()
  a = matrices (1);
  m = cat (3, a, a);
  m(3,7,2) = NaN;
  m(7,3,2) = NaN;
  m(5,5,2) = NaN;
  [l, s, u, report] = denise (m, 3, 'missing', true);
  assert (isequal (isnan (s), isnan (m)) && all (isfinite (l(:))));
  assert (isequal (report.missing, [0; 2]) && isequal (report.status, [0; 0]));
  assert (isequal (report.first_bad, [0; 0]));
  known = ~isnan (m);
  near (l(known) + s(known), m(known), 1e-12);
  near (u(:,:,2) * u(:,:,2)', l(:,:,2), 1e-12 * max (l(:)));
  plain = denise (a, 3);
  assert (isequal (l(:,:,1), plain));
  near (l(:,:,2), plain, 0.05 * max (plain(:)));
  assert (isequal (denise (single (a), 'missing', true), denise (single (a))));
end

% The place of the first entry that is not finite, as MATLAB counts it.
function first_bad_entry_is_named ()
  a = matrices (1);
  a(:,:,2) = a;
  a(3,7,2) = Inf;
  a(7,3,2) = Inf;
  state = warning ('off', 'denise:notFinite');
  [~, ~, ~, report] = denise (a);
  warning (state);
  assert (isequal (report.status, int32 ([0; 7])));
  page = a(:,:,2);
  assert (report.first_bad(1) == 0 && isinf (page(report.first_bad(2))));
end

% Most of S is zero, which eigen-truncation does not achieve.
function sparse_part_is_found ()
  m = matrices (1);
  [~, ~, ~, report] = denise (m);
  [~, s] = denise_solve (m, 'eigen');
  assert (report.sparsity > 0.9);
  assert (mean (abs (s(:)) <= 0.01 * trace (m) / 20) < 0.75);
end

% Pages are what the matrices give one by one, to the bit, for any number of threads and of results.
function pages_are_matrices ()
  for name = {'double', 'single'}
    a = cast (matrices (7), name{1});
    [l, s, u, report] = denise (a);
    assert (isequal (size (l), [20 20 7]) && isequal (size (u), [20 3 7]));
    assert (isequal (size (report.l1), [7 1]) && isequal (size (report.status), [7 1]));
    for q = 1:7
      [l1, s1, u1, report1] = denise (a(:,:,q));
      assert (isequal (l(:,:,q), l1) && isequal (s(:,:,q), s1) && isequal (u(:,:,q), u1));
      assert (report.residual(q) == report1.residual);
    end
    assert (isequal (denise (a, 'threads', 2), l));
    [l2, s2] = denise (a);
    [l3, s3, u3] = denise (a);
    assert (isequal (l2, l3, l) && isequal (s2, s3, s) && isequal (u3, u));
  end
end

% Options: a number, names in any case, a struct, and any mixture; [] is the default, the last one counts.
function options_in_every_form ()
  m = matrices (1);
  [l, ~, u] = denise (m, 2);
  assert (isequal (size (u), [20 2]) && rank (l, 1e-8) == 2);
  assert (isequal (l, denise (m, 'k', 2), denise (m, 'K', single (2)), denise (m, int8 (2))));
  assert (isequal (l, denise (m, 2, 'threads', 2), denise (m, 2, struct ('threads', 2)), denise (m, struct ('k', 2))));
  assert (isequal (l, denise (m, struct ('K', 2, 'Threads', []), 'model', ''), denise (m, struct ('k', 5), 'k', 2)));
  assert (isequal (l, denise (m, 'k', 5, struct ('k', 2)), denise (m, [], 'k', 2)));
  assert (isequal (denise (m), denise (m, 3), denise (m, []), denise (m, struct ())));
  assert (isequal (denise (m), denise (m, 'k', [], 'threads', [])));
  if (exist ('string', 'class') == 8 || exist ('string', 'builtin') == 5)   % MATLAB
    assert (isequal (l, denise (m, string ('k'), 2)));
  end
end

function default_rank_fits ()
  [~, ~, u] = denise ([2 1; 1 2]);
  assert (isequal (size (u), [2 1]));
  [~, ~, u] = denise (eye (3));
  assert (isequal (size (u), [3 2]));
end

% The shipped file is the built-in network.
function model_file ()
  m = matrices (1);
  file = 'models/default.onnx';
  assert (isequal (denise (m, 'model', file), denise (m, struct ('model', file)), denise (m)));
  [~, ~, u] = denise (m, 4, 'model', file);
  assert (isequal (size (u), [20 4]));
end

function opened_model ()
  m = matrices (1);
  net = denise ('models/default.onnx');
  assert (isa (net, 'uint64'));
  assert (isequal (denise (net, m), denise (m)));
  [~, ~, u, report] = denise (net, m, 2);
  assert (isequal (size (u), [20 2]) && report.status == 0);
  assert (isequal (denise (net, single (m), 'threads', 2), denise (single (m))));
  assert (isequal (denise (net, m, struct ('k', 2)), denise (m, 2)));
  assert (isequal (size (denise (net, eye (7))), [7 7]));   % another size of the same file
  info = denise_info (net);
  assert (info.k == 3);
  denise (net, 'close');
  other = denise ('models/default.onnx', 'k', 2, 'threads', 2);   % its own options, which a call may change
  assert (other ~= net);
  [~, ~, u] = denise (other, eye (6));
  assert (isequal (size (u), [6 2]));
  [~, ~, u] = denise (other, eye (6), 4);
  assert (isequal (size (u), [6 4]));
  denise (other, 'close');
  third = denise ('models/default.onnx', struct ('k', 2));
  [~, ~, u] = denise (third, eye (6));
  assert (isequal (size (u), [6 2]));
  denise (third, 'close');
end

% By its name: another network, which takes every size, missing entries and streams.
function built_in_by_name ()
  m = matrices (1);
  assert (isequal (denise (m, 'model', 'default'), denise (m)));
  quick = denise (m, 'model', 'fast');
  assert (~ isequal (quick, denise (m)) && norm (quick - denise (m)) < 0.2 * norm (m));
  net = denise ('fast');
  assert (isequal (denise (net, m), quick));
  assert (isequal (size (denise (net, eye (7))), [7 7]));
  holes = m;
  holes(3,5) = NaN;
  holes(5,3) = NaN;
  assert (all (all (isfinite (denise (net, holes, 'missing', true)))));
  denise (net, 'close');
  st = denise_stream (6, 'k', 2, 'model', 'fast');
  assert (size (denise_stream (st, returns_of (30)), 1) == 6);
  denise_stream (st, 'close');
end

function no_pages_no_work ()
  [l, s, u, report] = denise (zeros (5, 5, 0, 'single'));
  assert (isequal (size (l), [5 5 0]) && isequal (size (u), [5 3 0]) && isa (s, 'single'));
  assert (isequal (size (report.status), [0 1]));
  assert (isequal (size (denise_solve (zeros (5, 5, 0), 'eigen')), [5 5 0]));
end

% M in other units gives L in those units.
function scale ()
  m = matrices (1);
  assert (isequal (denise (2^20 * m), 2^20 * denise (m)));
end

% Asymmetry from rounding is fine; the upper triangle counts. So it is for the classical methods.
function rounding_is_no_asymmetry ()
  for name = {'double', 'single'}
    m = cast (matrices (1), name{1});
    a = m;
    a(5,2) = a(5,2) * (1 + 4 * eps (name{1}));
    assert (~ isequal (a, a'));
    assert (isequal (denise (a), denise (m)));
    assert (isequal (denise_solve (a, 'eigen'), denise_solve (m, 'eigen')));
  end
end

% NaN in that page, and the others as if nothing had happened.
function not_finite_pages ()
  warning ('off', 'denise:notFinite');
  batch = matrices (7);
  a = batch;
  a(3,3,2) = NaN;
  a(4,6,5) = -Inf;
  a(6,4,5) = -Inf;
  [l, s, u, report] = denise (a);
  good = [1 3 4 6 7];
  for q = [2 5]
    assert (all (all (isnan (l(:,:,q)))) && all (all (isnan (s(:,:,q)))) && all (all (isnan (u(:,:,q)))));
  end
  assert (isequal (report.status, int32 ([0 7 0 0 7 0 0]')));
  assert (isequal (isnan (report.l1), logical ([0 1 0 0 1 0 0]')));
  whole = denise (batch);
  assert (isequal (l(:,:,good), whole(:,:,good)));
  lastwarn ('', '');
end

function info_fields ()
  info = denise_info ();
  assert (info.n == 20 && info.k == 3 && info.abi >= 1);
  assert (~ isempty (regexp (info.version, '^\d+\.\d+\.\d+', 'once')));
  assert (~ isempty (strfind (info.kernel, 'unrolled')));
  file = denise_info ('models/default.onnx');
  assert (file.n == 20);
  assert (~ isempty (strfind (evalc ('denise_info'), info.kernel)));
end

% Eigen-truncation against the host's own eigenvalues.
function eigen_truncation ()
  m = matrices (1);
  [v, d] = eig (m);
  [d, order] = sort (diag (d), 'descend');
  v = v(:,order(1:2));
  [l, s] = denise_solve (m, 'eigen', 2);
  near (l, v * diag (d(1:2)) * v', 1e-11);
  near (l + s, m, 1e-13);
  near (denise_solve (cat (3, m, 2 * m), 'Eigen', 2), cat (3, l, 2 * l), 1e-10);
end

% Every method, in both classes. Single is the result of double, rounded.
function classical_methods ()
  m = single (matrices (2));
  for name = {'eigen', 'pcp', 'ialm', 'fpcp', 'rpca_gd', 'masked_pcp'}
    [l, s] = denise_solve (m, name{1});
    [l2, s2] = denise_solve (double (m), name{1});
    assert (isa (l, 'single') && isa (s, 'single') && isa (l2, 'double'));
    assert (isequal (size (l), [20 20 2]) && all (isfinite (l(:))));
    assert (isequal (l, single (l2)) && isequal (s, single (s2)));
  end
end

% NaN is an entry that is not known, and gives no warning.
function entries_that_are_not_known ()
  m = matrices (1);
  assert (isequal (denise_solve (m, 'masked_pcp'), denise_solve (m, 'pcp')));
  m(3,8) = NaN;
  m(8,3) = NaN;
  lastwarn ('');
  [l, s] = denise_solve (m, 'Masked PCP');
  assert (isempty (lastwarn ()));
  assert (all (isfinite (l(:))) && isequal (l, l'));
  assert (isequal (isnan (s), isnan (m)));
end

function spelling_of_methods ()
  m = matrices (1);
  l = denise_solve (m, 'rpca_gd', 2);
  assert (isequal (l, denise_solve (m, 'RPCA-GD', 2), denise_solve (m, 'Rpca gd', 2)));
  assert (isequal (denise_solve (m, 'PCP'), denise_solve (m, 'pcp')));
end

function options_of_methods ()
  m = matrices (1);
  l = denise_solve (m, 'pcp');
  assert (isequal (l, denise_solve (m, 'pcp', 3, []), denise_solve (m, 'pcp', [], 0)));
  assert (isequal (l, denise_solve (m, 'pcp', 'lambda', [])));
  l = denise_solve (m, 'pcp', 3, 0.2);
  assert (~ isequal (l, denise_solve (m, 'pcp')));
  assert (isequal (l, denise_solve (m, 'pcp', 'lambda', 0.2), denise_solve (m, 'pcp', struct ('lambda', 0.2))));
  assert (isequal (l, denise_solve (m, 'pcp', 3, 'Lambda', 0.2)));
  l = denise_solve (m, 'eigen', 2);
  assert (isequal (l, denise_solve (m, 'eigen', 'k', 2), denise_solve (m, 'eigen', struct ('k', 2))));
end

% Results of ticks: L + S is the estimate, L = U*U', before the first split NaN and status 10; both classes.
function stream_splits_its_estimate ()
  r = returns_of (40);
  r(isnan (r)) = 0.005;
  for name = {'double', 'single'}
    st = denise_stream (6, 2, 'window', 20);
    [l, s, u, report] = denise_stream (st, cast (r, name{1}));
    assert (isa (st, 'uint64') && isa (l, name{1}) && isa (s, name{1}) && isa (u, name{1}));
    assert (isequal (size (l), [6 6 40]) && isequal (size (s), [6 6 40]) && isequal (size (u), [6 2 40]));
    assert (isequal (report.status, int32 ([10 * ones(3, 1); zeros(37, 1)])));   % the fourth tick is 2 k
    assert (all (all (all (isnan (l(:,:,1:3))))) && all (isfinite (l(:)) | isnan (s(:))));
    window = double (cast (r(21:40,:), name{1}));
    m = window' * window / 20;
    near (denise_stream (st, 'covariance'), m, 1e-15);
    near (l(:,:,40) + s(:,:,40), m, 20 * eps (name{1}) * max (m(:)));
    near (u(:,:,40) * u(:,:,40)', l(:,:,40), 20 * eps (name{1}) * max (m(:)));
    denise_stream (st, 'close');
  end
end

% A table of ticks is the ticks one by one, as rows, columns or pages, and whatever results are asked for.
function ticks_one_by_one ()
  r = returns_of (45);
  a = denise_stream (6, 'window', 15, 'demean', true);
  b = denise_stream (6, 'window', 15, 'demean', true);
  [l, s, u, report] = denise_stream (a, r);
  for t = 1:45
    row = r(t,:);
    if (mod (t, 3) == 0)
      [l1, s1, u1, report1] = denise_stream (b, row');
      assert (isequaln (u1, u(:,:,t)) && isequaln (s1, s(:,:,t)));
      assert (report1.status == report.status(t) && isequaln (report1.l1, report.l1(t)));
    elseif (mod (t, 3) == 1)
      l1 = denise_stream (b, reshape (row, 6, 1));
    else
      denise_stream (b, row);   % no results: it is taken in all the same
      continue;
    end
    assert (isequaln (l1, l(:,:,t)));
  end
  assert (isequal (denise_stream (a, 'save'), denise_stream (b, 'save')));
  assert (isequaln (denise_stream (a, reshape (r', 6, 1, 45)), denise_stream (b, r)));
  assert (isequal (size (denise_stream (a, zeros (0, 6))), [6 6 0]));
  denise_stream (a, 'close');
  denise_stream (b, 'close');
end

% Streams side by side have the bits of each alone, for returns and for matrices.
function streams_side_by_side ()
  options = struct ('half_life', 9, 'correlation', true, 'k', 2);
  st = denise_stream (6, options, 'streams', 5);
  r = returns_of (5 * 30);
  r = permute (reshape (r', 6, 30, 5), [1 3 2]);   % assets, streams, ticks
  [l, s, u, report] = denise_stream (st, r);
  assert (isequal (size (l), [6 6 5 30]) && isequal (size (u), [6 2 5 30]) && isequal (size (report.l1), [5 30]));
  [m, ~, ~, more] = denise_stream (st, r(:,:,1));
  assert (isequal (size (m), [6 6 5]) && isequal (size (more.status), [5 1]));
  c = denise_stream (st, 'covariance');
  assert (isequal (size (c), [6 6 5]) && isa (c, 'double'));
  n = denise_stream (st, 'matrices', cat (4, c, 2 * c));
  assert (isequal (size (n), [6 6 5 2]));
  for b = 1:5
    one = denise_stream (6, options);
    [l1, s1, u1, report1] = denise_stream (one, squeeze (r(:,b,:))');
    assert (isequaln (squeeze (l(:,:,b,:)), l1) && isequaln (squeeze (s(:,:,b,:)), s1));
    assert (isequaln (squeeze (u(:,:,b,:)), u1) && isequaln (report.l1(b,:)', report1.l1));
    assert (isequal (m(:,:,b), denise_stream (one, r(:,b,1))));
    assert (isequal (c(:,:,b), denise_stream (one, 'covariance')));
    n1 = denise_stream (one, 'matrices', cat (3, c(:,:,b), 2 * c(:,:,b)));
    assert (isequal (squeeze (n(:,:,b,:)), n1));
    denise_stream (one, 'restore', denise_stream (st, 'save', b));
    next = denise_stream (st, r(:,:,2));
    assert (isequal (next(:,:,b), denise_stream (one, r(:,b,2))));
    denise_stream (one, 'close');
  end
  denise_stream (st, 'close');
end

% A state goes on with the same bits: in the same streams, in others, in one of many. One that does not fit changes
% nothing.
function states_go_on ()
  r = returns_of (60);
  st = denise_stream (6, 'window', 12);
  denise_stream (st, r(1:30,:));
  state = denise_stream (st, 'save');
  assert (isa (state, 'uint8') && size (state, 2) == 1);
  l = denise_stream (st, r(31:60,:));
  denise_stream (st, 'restore', state);
  assert (isequaln (denise_stream (st, r(31:60,:)), l));
  other = denise_stream (6, 'window', 12);
  denise_stream (other, 'RESTORE', state');
  assert (isequaln (denise_stream (other, r(31:60,:)), l));
  many = denise_stream (6, 'window', 12, 'streams', 3);
  denise_stream (many, 'restore', state, 2);
  x = denise_stream (many, repmat (reshape (r(31:60,:)', 6, 1, 30), 1, 3));
  assert (isequaln (squeeze (x(:,:,2,:)), l) && ~ isequaln (squeeze (x(:,:,3,:)), l));
  third = denise_stream (many, 'save', 3);
  denise_stream (many, 'reset', 2);
  c = denise_stream (many, 'covariance');
  assert (all (all (isnan (c(:,:,2)))) && isequal (denise_stream (many, 'save', 3), third));
  denise_stream (many, 'reset');
  new = denise_stream (6, 'window', 12, 'streams', 3);
  assert (isequal (denise_stream (many, 'save'), denise_stream (new, 'save')));
  bad = state;
  bad(end-20) = 255 - bad(end-20);
  caught = {'', '', ''};
  states = {bad, state(1:end-1), denise_stream(many, 'save')};
  before = denise_stream (st, 'save');
  for i = 1:3
    try
      denise_stream (st, 'restore', states{i});
    catch problem
      caught{i} = problem.identifier;
    end
  end
  assert (isequal (caught(1:2), {'denise:format', 'denise:format'}));
  assert (any (strcmp (caught{3}, {'denise:shape', 'denise:argument'})));
  assert (isequal (denise_stream (st, 'save'), before));
  for one = [st, other, many, new]
    denise_stream (one, 'close');
  end
end

% NaN is a return that is not known, and no warning. Inf is an error that names the asset, and the tick does not count:
% in a window it is a tick of which nothing is known.
function returns_that_are_not_known ()
  r = returns_of (50);
  r(:,4) = NaN;
  st = denise_stream (6, 'window', 20);
  [l, s, ~, report] = denise_stream (st, r);
  assert (all (report.status(7:end) == 0) && all (report.missing(7:end) > 0));
  assert (all (all (isfinite (l(:,:,end)))) && all (isnan (s(4,:,end))));
  c = denise_stream (st, 'covariance');
  assert (isequal (isnan (c(4,:)), true (1, 6)));
  other = denise_stream (6, 'half_life', 20);
  denise_stream (other, r);
  before = denise_stream (other, 'covariance');
  state = denise_stream (st, 'save');
  warning ('off', 'denise:notFinite');
  [l, ~, u, report] = denise_stream (st, [0.01 0.02 -Inf 0 0 0]);
  assert (all (isnan (l(:))) && all (isnan (u(:))) && report.status == 7 && report.first_bad == 3);
  denise_stream (other, [0 0 0 0 1e101 0]);
  lastwarn ('', '');
  assert (isequaln (denise_stream (other, 'covariance'), before));
  c = denise_stream (st, 'covariance');
  denise_stream (st, 'restore', state);
  denise_stream (st, NaN (1, 6));
  assert (isequaln (denise_stream (st, 'covariance'), c));
  denise_stream (st, 'close');
  denise_stream (other, 'close');
end

% Covariances of the caller, with entries that are not known if the stream takes them.
function matrices_of_the_caller ()
  m = matrices (1);
  st = denise_stream (20, 'missing', true);
  [l, s] = denise_stream (st, 'matrices', m);
  near (l + s, m, 1e-12);
  near (l, denise (m), 1e-9 * max (m(:)));   % the first split starts from scratch
  m(3,5) = NaN;
  m(5,3) = NaN;
  [l, s, ~, report] = denise_stream (st, 'matrices', single (m));
  assert (isa (l, 'single') && all (isfinite (l(:))) && isequal (isnan (s), isnan (m)) && report.missing == 1);
  denise_stream (st, 'close');
end

% The shipped file is the built-in network, unless it has no layers for streams: then the error says so.
function stream_of_a_model_file ()
  r = returns_of (30);
  plain = denise_stream (6, 'k', 2);
  st = denise_stream (6, 'k', 2, 'model', 'models/default.onnx');
  assert (isequaln (denise_stream (st, r), denise_stream (plain, r)));
  denise_stream (st, 'close');
  denise_stream (plain, 'close');
end

% Rolling windows are a live stream that gets the same returns, to the bit, in both classes; NaN prices are not known.
function rolling_is_a_live_stream ()
  r = returns_of (70);
  r(isnan (r)) = 0;
  prices = 100 * cumprod ([ones(1, 6); 1 + r]);
  prices(31,4) = NaN;
  for name = {'double', 'single'}
    p = cast (prices, name{1});
    returns = p(2:end,:) ./ p(1:end-1,:) - 1;
    assert (isequal (find (isnan (returns(:,4))), [30; 31]));
    st = denise_stream (6, 2, 'window', 25, 'correlation', true, 'demean', true);
    [l, s, u, report] = denise_stream (st, returns);
    denise_stream (st, 'close');
    [lr, sr, ur, rr, rows] = denise_rolling (p, 25, 2);
    assert (isa (lr, name{1}) && isequal (rows, (26:71)'));
    assert (isequaln (lr, l(:,:,25:70)) && isequaln (sr, s(:,:,25:70)) && isequaln (ur, u(:,:,25:70)));
    assert (isequal (rr.status, int32 (zeros (46, 1))) && isequaln (rr.l1, report.l1(25:70)));
    [lr, ~, ~, rr, rows] = denise_rolling (p, 25, struct ('k', 2), 'step', 7);
    assert (isequal (rows, (26:7:71)') && isequaln (lr, l(:,:,25:7:70)) && isequaln (rr.l1, report.l1(25:7:70)));
    [lr, ~, ~, ~, rows] = denise_rolling (returns, 25, 'returns', true, 'k', 2, 'step', 100);
    assert (isequal (rows, 25) && isequal (lr, l(:,:,25)));
  end
  st = denise_stream (6, 'window', 25, 'warm_up', 20);
  l = denise_stream (st, r);
  denise_stream (st, 'close');
  lr = denise_rolling (r, 25, 'returns', 1, 'correlation', false, 'demean', false, 'warm_up', 20);
  assert (isequaln (lr, l(:,:,25:70)));
end

% The covariance of a window is that of its returns, over the days on which both assets have one.
function rolling_windows_are_windows ()
  r = returns_of (40);
  [l, s, ~, report] = denise_rolling (r, 30, 'returns', true, 'step', 10);
  known = ~ isnan (r(11:40,2));
  window = r(11:40,:);
  m = cov (window(:,[1 3:6]), 1);
  near (l([1 3:6],[1 3:6],2) + s([1 3:6],[1 3:6],2), m, 1e-15);
  m = cov (window(known,1:2), 1);
  near (l(1,2,2) + s(1,2,2), m(1,2), 1e-15);
  assert (all (report.missing == 0));
end

function rolling_of_tables ()
  if (~ exist ('array2timetable'))
    return;
  end
  p = 100 + returns_of (40);
  names = {'A', 'B', 'C', 'D', 'E', 'F'};
  l = denise_rolling (p, 20);
  assert (isequaln (l, denise_rolling (array2timetable (p, 'RowTimes', days (1:40)', 'VariableNames', names), 20)));
  assert (isequaln (l, denise_rolling (array2table (p, 'VariableNames', names), 20)));
  st = denise_stream (6);
  other = denise_stream (6);
  t = array2table (returns_of (20), 'VariableNames', names);
  assert (isequaln (denise_stream (st, t), denise_stream (other, returns_of (20))));
  denise_stream (st, 'close');
  denise_stream (other, 'close');
end

% Sigma = U*U' + diag (d) with the U of denise, and what the host makes of Sigma, in both classes.
function sigma_can_be_inverted ()
  for name = {'double', 'single'}
    m = cast (matrices (1), name{1});
    [sigma, inverse, d, logdet, u, report] = denise_covariance (m);
    [~, s, v, split] = denise (m);
    assert (isa (sigma, name{1}) && isa (inverse, name{1}) && isa (d, name{1}) && isa (u, name{1}));
    assert (isa (logdet, 'double') && isequal (u, v) && isequal (report, split));
    assert (isequal (sigma, sigma') && isequal (inverse, inverse'));
    tolerance = 20 * eps (name{1}) * max (m(:));
    near (d, max (diag (s), diag (m) / 20), tolerance);
    u = double (u);
    exact = u * u' + diag (double (d));
    near (sigma, exact, tolerance);
    near (inverse, inv (exact), 20 * eps (name{1}) * max (abs (inverse(:))) + 1e-9);
    near (logdet, 2 * sum (log (diag (chol (exact)))), 1e-9);
    chol (double (sigma));
    chol (double (inverse));
  end
end

% However few observations: the sample covariance has no inverse, Sigma has one. Units do not matter with the option.
function sigma_of_few_observations ()
  r = reshape (sin ((1:200) .^ 2), 10, 20);
  m = cov (r);
  assert (rank (m) < 20);
  [sigma, inverse] = denise_covariance (m, 2, 'correlation', true);
  near (sigma * inverse, eye (20), 1e-9);
  unit = diag (10 .^ mod (1:20, 5));
  other = denise_covariance (unit * m * unit, 2, 'correlation', true);
  near (unit \ other / unit, sigma, 1e-9 * max (sigma(:)));
end

% Pages are what the matrices give one by one, to the bit, for any number of threads and of results.
function sigma_of_pages ()
  for name = {'double', 'single'}
    m = cast (matrices (5), name{1});
    [sigma, inverse, d, logdet, u, report] = denise_covariance (m, 2);
    assert (isequal (size (sigma), [20 20 5]) && isequal (size (inverse), [20 20 5]) && isequal (size (d), [20 5]));
    assert (isequal (size (logdet), [5 1]) && isequal (size (u), [20 2 5]) && isequal (size (report.status), [5 1]));
    for q = 1:5
      [sigma1, inverse1, d1, logdet1, u1, report1] = denise_covariance (m(:,:,q), 2);
      assert (isequal (sigma(:,:,q), sigma1) && isequal (inverse(:,:,q), inverse1) && isequal (d(:,q), d1));
      assert (logdet(q) == logdet1 && isequal (u(:,:,q), u1) && report.l1(q) == report1.l1);
    end
    assert (isequal (denise_covariance (m, 2, 'threads', 2), sigma));
    [~, other] = denise_covariance (m, 2);
    assert (isequal (other, inverse));
  end
  [sigma, inverse, d, logdet, u, report] = denise_covariance (zeros (5, 5, 0, 'single'));
  assert (isequal (size (sigma), [5 5 0]) && isequal (size (inverse), [5 5 0]) && isequal (size (d), [5 0]));
  assert (isequal (size (logdet), [0 1]) && isequal (size (u), [5 3 0]) && isequal (size (report.status), [0 1]));
  assert (isequal (size (denise_covariance (zeros (5, 5, 0), zeros (5, 3, 0))), [5 5 0]));
end

% Options: those of denise, and the floor.
function options_of_sigma ()
  m = matrices (1);
  [~, s] = denise (m, 3, 'careful', true);
  [sigma, ~, d] = denise_covariance (m, 3, 'careful', true, 'floor', 0.3);
  near (d, max (diag (s), 0.3 * diag (m)), 1e-12);
  near (diag (sigma), diag (m) - diag (s) + d, 1e-12);
  assert (isequal (sigma, denise_covariance (m, struct ('Floor', 0.3, 'careful', 1))));
  sigma = denise_covariance (m);
  assert (isequal (sigma, denise_covariance (m, []), denise_covariance (m, 'floor', []), ...
                   denise_covariance (m, 'floor', 0), denise_covariance (m, single (3), 'floor', 0.05)));
  file = 'models/default.onnx';
  net = denise (file);
  assert (isequal (sigma, denise_covariance (m, 'model', file), denise_covariance (net, m, 3, 'floor', 0.05)));
  denise (net, 'close');
end

% An entry that is not known leaves no hole in Sigma; a variance that is not known gets the mean of the other d.
function sigma_of_missing_entries ()
  m = matrices (1);
  m(3,7) = NaN;
  m(7,3) = NaN;
  m(5,5) = NaN;
  [sigma, inverse, d, ~, ~, report] = denise_covariance (m, 3, 'missing', true);
  assert (all (isfinite (sigma(:))) && report.missing == 2 && report.status == 0);
  near (sigma * inverse, eye (20), 1e-8);
  near (d(5), mean (d([1:4 6:20])), 1e-12);
end

% From a U that is there already, of any method and in any class; of M only the variances count.
function sigma_of_a_factor ()
  m = matrices (3);
  [sigma, inverse, d, logdet, u] = denise_covariance (m, 'floor', 0.05);
  [sigma1, inverse1, d1, logdet1] = denise_covariance (m, u, 'floor', 0.05);
  assert (isequal (sigma, sigma1) && isequal (inverse, inverse1) && isequal (d, d1) && isequal (logdet, logdet1));
  assert (isequal (sigma1, denise_covariance (m, u, struct ('floor', 0.05))));
  variances = m;
  for q = 1:3
    variances(:,:,q) = diag (diag (m(:,:,q)));
  end
  assert (isequal (sigma, denise_covariance (variances, u, 'floor', 0.05)));
  assert (isa (denise_covariance (m, single (u)), 'single') && isa (denise_covariance (single (m), u), 'single'));
  near (denise_covariance (2 * eye (4), eye (4, 2)), 2 * eye (4), 1e-15);   % in Octave matrices of a special kind
  r = returns_of (60);
  [l, s, u] = denise_rolling (r, 30, 2, 'returns', true);
  [~, inverse] = denise_covariance (l + s, u);
  assert (isequal (size (inverse), [6 6 31]) && all (isfinite (inverse(:))));
end

% Sigma * b and Sigma \ b as the host has them: columns, pages, one b for all pages, both classes.
function products_without_sigma ()
  for name = {'double', 'single'}
    m = cast (matrices (4), name{1});
    [sigma, ~, d, ~, u] = denise_covariance (m, 'floor', 0.1);
    b = cast (cos (reshape (1:20*3*4, 20, 3, 4)), name{1});
    y = denise_sigma_multiply (u, d, b);
    x = denise_sigma_solve (u, d, b);
    shared = denise_sigma_solve (u, d, b(:,:,1));
    column = denise_sigma_solve (u, d, b(:,2,:));
    assert (isa (x, name{1}) && isa (y, name{1}) && isequal (size (x), [20 3 4]) && isequal (size (y), [20 3 4]));
    assert (isequal (column, x(:,2,:)) && isequal (shared(:,:,1), x(:,:,1)));
    for q = 1:4
      one = double (u(:,:,q)) * double (u(:,:,q))' + diag (double (d(:,q)));
      near (y(:,:,q), one * double (b(:,:,q)), 20 * eps (name{1}) * max (m(:)));
      near (x(:,:,q), one \ double (b(:,:,q)), 20 * eps (name{1}) * max (abs (x(:))) + 1e-11);
      near (shared(:,:,q), one \ double (b(:,:,1)), 20 * eps (name{1}) * max (abs (shared(:))) + 1e-11);
      assert (isequal (x(:,:,q), denise_sigma_solve (u(:,:,q), d(:,q), b(:,:,q))));
      assert (isequal (y(:,:,q), denise_sigma_multiply (u(:,:,q), d(:,q), b(:,:,q))));
    end
    near (denise_sigma_multiply (u, d, eye (20)), sigma, 20 * eps (name{1}) * max (m(:)));
    assert (isequal (denise_sigma_solve (u, reshape (d, 20, 1, 4), b), x));
    assert (isequal (size (denise_sigma_solve (u, d, zeros (20, 0))), [20 0 4]));
    assert (isequal (size (denise_sigma_multiply (u(:,:,[]), d(:,[]), b(:,:,1))), [20 3 0]));
  end
  assert (isa (denise_sigma_solve (u, d, double (b)), 'single'));   % as the host does it
end

% NaN on the pages that cannot be done, and the others as if nothing had happened; each kind has its warning.
function pages_without_an_inverse ()
  warning ('off', 'denise:notFinite');
  warning ('off', 'denise:singular');
  batch = matrices (4);
  a = batch;
  a(:,:,2) = 0;
  [sigma, inverse, d, logdet, u, report] = denise_covariance (a);
  assert (isequal (report.status, int32 ([0; 11; 0; 0])));
  assert (all (all (isnan (sigma(:,:,2)))) && all (all (isnan (inverse(:,:,2)))) && all (isnan (d(:,2))));
  assert (isequal (isnan (logdet), logical ([0; 1; 0; 0])));
  whole = denise_covariance (batch);
  assert (isequal (sigma(:,:,[1 3 4]), whole(:,:,[1 3 4])));
  x = denise_sigma_solve (u, d, ones (20, 1));
  assert (isequal (find (isnan (x(1,1,:))), 2));
  a(3,4,3) = Inf;
  a(4,3,3) = Inf;
  [~, ~, ~, ~, ~, report] = denise_covariance (a, 'missing', true);
  assert (isequal (report.status, int32 ([0; 11; 7; 0])));
  [~, ~, d, ~, u] = denise_covariance (batch);
  d(7,4) = 0;
  x = denise_sigma_solve (u, d, ones (20, 2));
  assert (isequal (find (isnan (x(1,1,:))), 4));
  y = denise_sigma_multiply (u, d, ones (20, 2));
  assert (all (isfinite (y(:))));
  lastwarn ('', '');
end

% Sigma of a stream is that of its estimate and of its U, for one and for many, and for the last of many ticks.
function sigma_of_a_stream ()
  r = returns_of (40);
  for name = {'double', 'single'}
    st = denise_stream (6, 2, 'window', 20);
    [~, ~, u] = denise_stream (st, cast (r, name{1}));
    [sigma, inverse, d, logdet] = denise_stream (st, 'sigma', u);
    c = denise_stream (st, 'covariance');
    [sigma1, inverse1, d1, logdet1] = denise_covariance (cast (c, name{1}), u(:,:,end));
    assert (isa (sigma, name{1}) && isa (d, name{1}) && isequal (size (sigma), [6 6]) && isequal (size (d), [6 1]));
    near (sigma, sigma1, 10 * eps (name{1}) * max (c(:)));
    near (d, d1, 10 * eps (name{1}) * max (c(:)));
    near (inverse, inverse1, 1e4 * eps (name{1}) * max (abs (inverse1(:))));
    near (logdet, logdet1, 1e4 * eps (name{1}));
    assert (isequal (sigma, denise_stream (st, 'SIGMA', u(:,:,end), 'floor', 0.05)));
    [~, ~, d] = denise_stream (st, 'sigma', u, 'floor', 0.9);
    assert (all (d >= 0.9 * diag (c) * (1 - eps (name{1}))));
    denise_stream (st, 'close');
  end
  st = denise_stream (6, 2, 'streams', 3, 'half_life', 15);
  p = permute (reshape (returns_of (90)', 6, 30, 3), [1 3 2]);
  [~, ~, u] = denise_stream (st, p);
  [sigma, inverse, d, logdet] = denise_stream (st, 'sigma', u);
  assert (isequal (size (sigma), [6 6 3]) && isequal (size (inverse), [6 6 3]));
  assert (isequal (size (d), [6 3]) && isequal (size (logdet), [3 1]));
  assert (isequal (sigma, denise_stream (st, 'sigma', u(:,:,:,end))));
  c = denise_stream (st, 'covariance');
  near (sigma, denise_covariance (c, u(:,:,:,end)), 1e-15);
  denise_stream (st, 'close');
end

% As many factors as there are, with few pairs that stand out, in any unit, order and class, and for pages.
function ranks_are_suggested ()
  assert (isequal (denise_rank (ones (6)), 1) && isequal (denise_rank (eye (20)), 0));
  m = zeros (20, 20, 3);
  for k = 1:3
    u = sin ((1:20)' .^ 2 * [1.7 3.1 5.3]);
    m(:,:,k) = u(:,1:k) * u(:,1:k)' + 0.2 * eye (20);
  end
  assert (isequal (denise_rank (m), [1; 2; 3]));
  assert (isequal (denise_rank (m, 500), denise_rank (m, 'observations', 500), ...
                   denise_rank (m, struct ('observations', 500), 'most', []), [1; 2; 3]));
  assert (isequal (denise_rank (m, 'Most', 2), [1; 2; 2]) && isequal (denise_rank (single (m), []), [1; 2; 3]));
  unit = diag (10 .^ mod (1:20, 5));
  order = [20:-2:2, 1:2:19];
  assert (denise_rank (unit * m(order,order,3) * unit) == 3);
  m(4,9,:) = NaN;
  m(9,4,:) = NaN;
  assert (isequal (denise_rank (m), [1; 2; 3]));
  assert (isequal (size (denise_rank (zeros (5, 5, 0))), [0 1]));
  assert (isequal (denise.rank (m, 'most', 1), [1; 1; 1]));
  warning ('off', 'denise:notFinite');
  m(3,3,2) = Inf;
  assert (isequaln (denise_rank (m), [1; NaN; 3]));
  lastwarn ('', '');
end

% denise.plot and its like are the functions with the long names.
function package ()
  m = matrices (1);
  assert (isequal (denise.solve (m, 'eigen', 2), denise_solve (m, 'eigen', 2)));
  [l, s] = denise.solve (m, 'eigen', 2);
  near (l + s, m, 1e-13);
  info = denise.info ();
  assert (info.n == 20);
  st = denise.stream (6, 'window', 20);
  l = denise.stream (st, returns_of (30));
  denise.stream (st, 'close');
  assert (isequal (size (l), [6 6 30]));
  [l, ~, ~, ~, rows] = denise.rolling (returns_of (30), 20, 'returns', true);
  assert (isequal (size (l), [6 6 11]) && isequal (rows, (20:30)'));
  [sigma, ~, d, ~, u] = denise.covariance (m, 2);
  assert (isequal (sigma, denise_covariance (m, 2)));
  assert (isequal (denise.sigma_solve (u, d, m), denise_sigma_solve (u, d, m)));
  assert (isequal (denise.sigma_multiply (u, d, m), denise_sigma_multiply (u, d, m)));
end

% The script for the LRS library finds M and params in the workspace and leaves L and S there.
function lrs_script ()
  M = matrices (1);
  params = struct ('rows', 20);
  run ('bindings/matlab/lrs/run_alg.m');
  assert (isequal (L, denise (M)));
  near (L + S, M, 1e-13);
  params.rank = 2;
  run ('bindings/matlab/lrs/run_alg.m');
  assert (isequal (L, denise (M, 2)));
end

function tables ()
  if (~ exist ('array2table'))
    return;   % an Octave without tests/octave/fakes
  end
  m = matrices (1);
  m = m(1:4,1:4);
  names = {'A', 'B', 'C', 'D'};
  [l, s] = denise (m, 2);
  [tl, ts, u] = denise (array2table (m, 'VariableNames', names), 2);
  assert (isa (tl, 'table') && isa (ts, 'table') && isequal (size (u), [4 2]));
  assert (isequal (tl{:,:}, l) && isequal (ts{:,:}, s));
  assert (isequal (tl.Properties.VariableNames, names) && isequal (tl.Properties.RowNames(:), names(:)));
  [sigma, inverse, d] = denise_covariance (m, 2);
  [tsigma, tinverse, td] = denise_covariance (array2table (m, 'VariableNames', names), 2);
  assert (isa (tsigma, 'table') && isequal (tsigma{:,:}, sigma) && isequal (tinverse{:,:}, inverse));
  assert (isequal (tsigma.Properties.VariableNames, names) && isequal (td, d));
  t = denise_solve (array2table (m, 'VariableNames', names), 'eigen', 2);
  assert (isequal (t{:,:}, denise_solve (m, 'eigen', 2)));
  caught = '';
  try
    denise (array2table (m(1:3,:), 'VariableNames', names));
  catch problem
    caught = problem.message;
  end
  assert (~ isempty (strfind (caught, 'M is a table of 3-by-4')));
end

function timetables ()
  if (~ exist ('array2timetable'))
    return;
  end
  returns = sin ((1:50)' * [1.1 2.3 3.7 5.1]);
  names = {'A', 'B', 'C', 'D'};
  t = array2timetable (returns, 'RowTimes', days (1:50)', 'VariableNames', names);
  tl = denise (t, 2);
  c = cov (returns);
  assert (isa (tl, 'table') && isequal (tl{:,:}, denise (c, 2)));
  assert (isequal (tl.Properties.VariableNames, names));
  k = denise_rank (c, 50);   % as many as rows
  assert (isequal (k, denise_rank (t), denise_rank (t, 'most', 9), denise_rank (t, 50)));
  assert (isequal (denise_rank (c), denise_rank (t, 0), denise_rank (t, 'observations', 0)));
end

% What is in the memory of a graphics card gets the right hint.
function arrays_elsewhere ()
  try
    m = gpuArray (eye (3));
  catch
    return;   % no such class, or no such card
  end
  caught = '';
  try
    denise (m);
  catch problem
    caught = problem.message;
  end
  assert (~ isempty (strfind (caught, 'pass gather (M)')));
end
