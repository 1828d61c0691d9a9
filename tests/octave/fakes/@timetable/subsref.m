function result = subsref (t, index)
  if (strcmp (index(1).type, '{}'))
    result = t.values(index(1).subs{:});
  else
    result = t.(index(1).subs);   % Properties; any other name is an error here
  end
  if (numel (index) > 1)
    result = subsref (result, index(2:end));
  end
end
