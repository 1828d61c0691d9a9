function result = named_cases ()
% denise_cases as matlab.unittest wants them: one field each, with a name that is unique and an identifier.
  cases = denise_cases ();
  result = struct ();
  for i = 1:numel (cases)
    word = regexprep (cases(i).name, '\W+', '_');
    result.(sprintf ('c%03d_%s', i, word(1:min (end, 50)))) = cases(i);
  end
end
