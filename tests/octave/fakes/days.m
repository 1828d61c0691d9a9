function d = days (d)
end
