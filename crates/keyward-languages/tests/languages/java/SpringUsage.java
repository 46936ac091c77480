import binaryoptions.BinaryOptions;
import binaryoptions.BinaryOptionsCaches;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.cache.Cache;
import org.springframework.cache.annotation.AnnotationCacheOperationSource;
import org.springframework.cache.interceptor.BeanFactoryCacheOperationSourceAdvisor;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.support.SimpleCacheManager;
import org.springframework.data.redis.cache.RedisCache;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheWriter;

/** A service behind Spring's own cache interceptor; prints what reaches Redis. */
public final class SpringUsage {
    public static void main(String[] args) {
        RedisCacheWriter writer = BinaryOptionsCaches.writer(new Printing());
        List<Cache> caches = new ArrayList<>();
        Map<String, RedisCacheConfiguration> configurations =
            BinaryOptionsCaches.configurations(RedisCacheConfiguration.defaultCacheConfig());
        configurations.forEach((name, configuration) -> caches.add(new RedisCache(name, writer, configuration)));
        Market market = cached(new CachedMarket(), caches);

        System.out.println(market.profile(10086));
        System.out.println(market.profile(10086));
        System.out.println("the same key: " + new BinaryOptions.UserProfile(10086).key());
        System.out.println(market.kline(BinaryOptions.Symbol.of("BTCUSDT"), "5m"));
        System.out.println(market.active());
        market.profileChanged(10086);
        market.listingChanged();
        try {
            market.kline(BinaryOptions.Symbol.of("BTCUSDT"), "5m:1m");
        } catch (BinaryOptions.Refused refused) {
            System.out.println("refused: " + refused.getMessage());
        }
        try {
            market.profile(-1);
        } catch (BinaryOptions.Refused refused) {
            System.out.println("refused: " + refused.getMessage());
        }
    }

    private static Market cached(Market market, List<Cache> caches) {
        SimpleCacheManager manager = new SimpleCacheManager();
        manager.setCaches(caches);
        manager.afterPropertiesSet();
        CacheInterceptor interceptor = new CacheInterceptor();
        interceptor.setCacheOperationSources(new AnnotationCacheOperationSource());
        interceptor.setCacheManager(manager);
        interceptor.afterSingletonsInstantiated();
        BeanFactoryCacheOperationSourceAdvisor advisor = new BeanFactoryCacheOperationSourceAdvisor();
        advisor.setCacheOperationSource(new AnnotationCacheOperationSource());
        advisor.setAdvice(interceptor);
        ProxyFactory factory = new ProxyFactory(market);
        factory.addAdvisor(advisor);
        return (Market) factory.getProxy();
    }

    private static final class Printing implements RedisCacheWriter {
        private final Map<String, byte[]> entries = new HashMap<>();

        @Override
        public void put(String name, byte[] key, byte[] value, Duration ttl) {
            System.out.println("  SET " + text(key) + " for " + ttl);
            entries.put(text(key), value);
        }

        @Override
        public byte[] get(String name, byte[] key) {
            System.out.println("  GET " + text(key));
            return entries.get(text(key));
        }

        @Override
        public void remove(String name, byte[] key) {
            System.out.println("  DEL " + text(key));
        }

        @Override
        public void clean(String name, byte[] pattern) {
            System.out.println("  SCAN MATCH " + text(pattern));
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
