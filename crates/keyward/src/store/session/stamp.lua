-- This moment as a value of its kind; of `=word`, always the word.
local function stamp(kind)
  if kind == 'unix' then return string.format('%.0f', math.floor(now / 1000)) end
  if kind == 'unix_ms' then return string.format('%.0f', now) end
  if kind:sub(1, 1) == '=' then return kind:sub(2) end
  local text = rfc3339(now)
  return kind == 'date' and text:sub(1, 10) or text
end
