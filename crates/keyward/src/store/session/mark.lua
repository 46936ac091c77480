-- Says to other programs that a session was revoked. KEYS: what says so. ARGV: ms that it stands (0: for ever); what it holds.
redis.call('SET', KEYS[1], stamp(ARGV[2]))
if ARGV[1] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
