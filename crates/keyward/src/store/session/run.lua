-- Runs the commands on a key that ARGV holds from a place on, each as the number of its arguments, its name and its
-- arguments; their answers.
local function run(key, at)
  local answers = {}
  while at <= #ARGV do
    local name, last = ARGV[at + 1], at + tonumber(ARGV[at])
    if name == 'HPEXPIRE' then
      -- Redis before 7.4 and Valkey before 9 have no TTLs of fields: the key's own must do.
      redis.pcall(name, key, unpack(ARGV, at + 2, last))
    elseif last > at + 1 then
      answers[#answers + 1] = redis.call(name, key, unpack(ARGV, at + 2, last))
    else
      answers[#answers + 1] = redis.call(name, key)
    end
    at = last + 1
  end
  return answers
end
