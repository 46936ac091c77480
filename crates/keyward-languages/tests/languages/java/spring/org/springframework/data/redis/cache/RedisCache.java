package org.springframework.data.redis.cache;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.springframework.cache.Cache;
import org.springframework.cache.support.SimpleValueWrapper;

/**
 * Stands in for Spring Data Redis, behind Spring's own interface: the key in Redis is the configured prefix
 * and then the entry's key, in UTF-8; all entries are cleared by the same with {@code *} for a key.
 */
public final class RedisCache implements Cache {
    private final String name;
    private final RedisCacheWriter writer;
    private final RedisCacheConfiguration configuration;

    public RedisCache(String name, RedisCacheWriter writer, RedisCacheConfiguration configuration) {
        this.name = name;
        this.writer = writer;
        this.configuration = configuration;
    }

    private byte[] key(Object key) {
        return (configuration.getKeyPrefixFor(name) + key).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public Object getNativeCache() {
        return writer;
    }

    @Override
    public ValueWrapper get(Object key) {
        byte[] value = writer.get(name, key(key));
        return value == null ? null : new SimpleValueWrapper(new String(value, StandardCharsets.UTF_8));
    }

    @Override
    public <T> T get(Object key, Class<T> type) {
        ValueWrapper value = get(key);
        return value == null ? null : type.cast(value.get());
    }

    @Override
    public <T> T get(Object key, Callable<T> loader) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void put(Object key, Object value) {
        writer.put(name, key(key), value.toString().getBytes(StandardCharsets.UTF_8), configuration.getTtl());
    }

    @Override
    public ValueWrapper putIfAbsent(Object key, Object value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void evict(Object key) {
        writer.remove(name, key(key));
    }

    @Override
    public void clear() {
        writer.clean(name, key("*"));
    }
}
