package org.springframework.data.redis.cache;

import java.time.Duration;

/** Stands in for Spring Data Redis: the commands that a cache sends. */
public interface RedisCacheWriter {
    void put(String name, byte[] key, byte[] value, Duration ttl);

    byte[] get(String name, byte[] key);

    void remove(String name, byte[] key);

    void clean(String name, byte[] pattern);
}
