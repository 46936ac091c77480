import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Evaluates the SpEL of every cache with the values of the vectors, and compares what stands in Redis
 * with the key that they must make. Each line of the file named by the argument has a class and the path
 * of its vectors.
 */
public final class SpringRunner {
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static int checked;
    private static int failed;
    private static int caches;

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] parts = line.split(" ", 2);
            run(parts[0], (Map<?, ?>) new Json(Files.readString(Path.of(parts[1]))).value());
        }
        System.out.println("checked " + checked + " keys of " + caches + " caches");
        System.exit(failed == 0 && checked > 0 ? 0 : 1);
    }

    private static void run(String name, Map<?, ?> document) throws Exception {
        Class<?> keyspace = Class.forName(name);
        Class<?> type = Class.forName(name + "Caches");
        Map<String, String> expressions = new HashMap<>();
        for (var constant : Class.forName(name + "Caches$Keys").getFields()) {
            expressions.put((String) type.getField(constant.getName()).get(null), (String) constant.get(null));
        }
        caches += expressions.size();
        var definitions = type.getDeclaredField("definitionByCache");
        definitions.setAccessible(true);
        Map<String, String> cacheOf = new HashMap<>();
        ((Map<?, ?>) definitions.get(null)).forEach((cache, definition) -> cacheOf.put((String) definition, (String) cache));
        Map<?, ?> bound = (Map<?, ?>) document.get("prefix");
        Map<?, ?> configurations;
        if (bound.isEmpty()) {
            configurations = (Map<?, ?>) type.getMethod("configurations", RedisCacheConfiguration.class)
                .invoke(null, RedisCacheConfiguration.defaultCacheConfig());
        } else {
            Class<?> prefix = Class.forName(name + "$Prefix");
            configurations = (Map<?, ?>) type.getMethod("configurations", prefix, RedisCacheConfiguration.class)
                .invoke(null, prefix.getMethod("of", Map.class).invoke(null, bound), RedisCacheConfiguration.defaultCacheConfig());
        }
        Map<String, List<String>> orders = new HashMap<>();
        for (Object each : (List<?>) document.get("build")) {
            Map<?, ?> vector = (Map<?, ?>) each;
            String definition = (String) vector.get("definition");
            Map<?, ?> params = (Map<?, ?>) vector.get("params");
            if (!cacheOf.containsKey(definition) || params.values().stream().anyMatch(Json.Bytes.class::isInstance)) {
                continue;
            }
            if (!orders.containsKey(definition)) {
                // The first vector of a definition is an ordinary one; its values come in the pattern's order.
                Object key = keyspace.getMethod("build", String.class, Map.class).invoke(null, definition, params);
                Map<?, ?> values = (Map<?, ?>) key.getClass().getMethod("values").invoke(key);
                List<String> order = new ArrayList<>();
                values.keySet().forEach(it -> order.add((String) it));
                orders.put(definition, order);
            }
            RedisCacheConfiguration configuration = (RedisCacheConfiguration) configurations.get(cacheOf.get(definition));
            check(name, expressions.get(cacheOf.get(definition)), orders.get(definition), configuration, vector);
        }
    }

    private static void check(String name, String spel, List<String> order, RedisCacheConfiguration configuration, Map<?, ?> vector) {
        checked++;
        Map<?, ?> params = (Map<?, ?>) vector.get("params");
        StandardEvaluationContext context = new StandardEvaluationContext();
        Iterator<String> ids = order.iterator();
        for (int at = spel.indexOf('#'); at >= 0 && !order.isEmpty(); at = spel.indexOf('#', at + 1)) {
            int end = at + 1;
            while (Character.isJavaIdentifierPart(spel.charAt(end))) {
                end++;
            }
            context.setVariable(spel.substring(at + 1, end), params.get(ids.next()));
        }
        Object made;
        try {
            Expression expression = PARSER.parseExpression(spel);
            made = configuration.getKeyPrefixFor((String) vector.get("definition")) + expression.getValue(context);
        } catch (RuntimeException refused) {
            Throwable cause = refused;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            made = cause.getClass().getSimpleName().equals("Refused") ? null : cause;
        }
        Object expected = vector.get("key");
        if (!(expected == null ? made == null : expected.equals(made)) && failed++ < 20) {
            System.out.println(name + " " + spel + " " + vector + ": got " + made);
        }
    }
}
