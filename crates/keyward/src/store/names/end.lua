-- Ends the lease beside a name, whoever has it. KEYS: lease, version. Returns the version, 0 if there is none.
redis.call('UNLINK', KEYS[1])
return redis.call('GET', KEYS[2]) or '0'
