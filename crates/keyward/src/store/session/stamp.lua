-- This moment as a value of its kind; of `=word`, always the word.
local function stamp(kind)
  if kind == 'unix' then return string.format('%.0f', math.floor(now / 1000)) end
  if kind == 'unix_ms' then return string.format('%.0f', now) end
  if kind:sub(1, 1) == '=' then return kind:sub(2) end
  -- Years begin in March, so that a leap day is the last of its year.
  local days = math.floor(now / 86400000)
  local era = math.floor((days + 719468) / 146097)
  local of_era = days + 719468 - era * 146097
  local year = math.floor((of_era - math.floor(of_era / 1460) + math.floor(of_era / 36524) - math.floor(of_era / 146096)) / 365)
  local of_year = of_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * of_year + 2) / 153)
  local day = of_year - math.floor((153 * month + 2) / 5) + 1
  year = year + era * 400
  if month < 10 then month = month + 3 else month, year = month - 9, year + 1 end
  local date = string.format('%04d-%02d-%02d', year, month, day)
  if kind == 'date' then return date end
  local rest = now - days * 86400000
  return string.format('%sT%02d:%02d:%02d.%03dZ', date, math.floor(rest / 3600000), math.floor(rest / 60000) % 60,
    math.floor(rest / 1000) % 60, rest % 1000)
end
