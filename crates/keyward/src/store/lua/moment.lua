-- A moment in milliseconds since 1970 as RFC 3339 spells it, in UTC: its first ten bytes are the date.
local function rfc3339(ms)
  local days = math.floor(ms / 86400000)
  -- Years begin in March, so that a leap day is the last of its year.
  local era = math.floor((days + 719468) / 146097)
  local of_era = days + 719468 - era * 146097
  local year = math.floor((of_era - math.floor(of_era / 1460) + math.floor(of_era / 36524) - math.floor(of_era / 146096)) / 365)
  local of_year = of_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * of_year + 2) / 153)
  local day = of_year - math.floor((153 * month + 2) / 5) + 1
  year = year + era * 400
  if month < 10 then month = month + 3 else month, year = month - 9, year + 1 end
  local rest = ms - days * 86400000
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end
