import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Runs golden vectors against generated classes. Each line of the file named by the argument has a
 * class and the path of its vectors.
 */
public final class Runner {
    private static int checked;
    private static int failed;

    public static void main(String[] args) throws Exception {
        List<String> cases = Files.readAllLines(Path.of(args[0]));
        for (String line : cases) {
            String[] parts = line.split(" ", 2);
            new Runner(parts[0], Path.of(parts[1])).run();
        }
        System.out.println("checked " + checked + " vectors in " + cases.size() + " keyspaces");
        System.exit(failed == 0 ? 0 : 1);
    }

    private final Class<?> keyspace;
    private final Map<?, ?> document;
    private final Object prefix;

    private Runner(String keyspace, Path vectors) throws Exception {
        this.keyspace = Class.forName(keyspace);
        this.document = (Map<?, ?>) new Json(Files.readString(vectors)).value();
        Map<?, ?> values = (Map<?, ?>) document.get("prefix");
        this.prefix = values.isEmpty() ? null : prefix(values);
    }

    private void run() throws Exception {
        for (String kind : List.of("prefixes", "build", "parse", "glob", "events", "former", "names")) {
            for (Object vector : (List<?>) document.get(kind)) {
                check(kind, (Map<?, ?>) vector);
            }
        }
    }

    private void check(String kind, Map<?, ?> vector) throws Exception {
        Map<?, ?> params = (Map<?, ?>) vector.get("params");
        // A Java string holds half of a surrogate pair, but no bytes that are no text.
        if (!List.of("parse", "former").contains(kind) && params.values().stream().anyMatch(Json.Bytes.class::isInstance)) {
            return;
        }
        checked++;
        String problem;
        try {
            problem = switch (kind) {
                case "prefixes" -> same(vector.get("prefix"), call(prefix(params), "text"));
                case "build" -> built(vector);
                case "parse" -> parsed(vector);
                case "glob" -> same(vector.get("glob"), glob(vector));
                case "former" -> formerly(vector);
                case "names" -> names(vector);
                default -> event(vector);
            };
            if (problem == null && vector.containsKey("refused")) {
                problem = "is not refused";
            }
        } catch (InvocationTargetException thrown) {
            problem = refused(vector, thrown.getCause());
        }
        if (problem != null && failed++ < 20) {
            System.out.println(keyspace.getName() + " " + kind + " " + vector + ": " + problem);
        }
    }

    private String refused(Map<?, ?> vector, Throwable thrown) throws Exception {
        if (!thrown.getClass().getSimpleName().equals("Refused")) {
            return "throws " + thrown;
        }
        Object reserved = ((Optional<?>) call(thrown, "reservedBy")).orElse(null);
        return first(same(vector.get("refused"), call(thrown, "param")), same(vector.get("reserved"), reserved));
    }

    private String built(Map<?, ?> vector) throws Exception {
        Object key = method("build", String.class, Map.class).invoke(null, vector.get("definition"), vector.get("params"));
        String text = (String) bound(key, "key");
        Object again = method("build", String.class, Map.class).invoke(null, vector.get("definition"), call(key, "values"));
        return first(
            same(vector.get("key"), text),
            same(vector.get("slot"), ((Number) bound(key, "slot")).longValue()),
            same(vector.get("definition"), call(key, "definition")),
            same(text, new String((byte[]) bound(key, "bytes"), StandardCharsets.UTF_8)),
            same(key, again),
            same(key, key(parse(text))));
    }

    private String formerly(Map<?, ?> vector) throws Exception {
        Object given = vector.get("key");
        Object found = ((Optional<?>) method("parseFormer", byte[].class).invoke(null, (Object) bytes(given))).orElse(null);
        if (found == null) {
            return same(vector.get("definition"), null);
        }
        String problem = first(
            same(vector.get("definition"), call(found, "definition")),
            same(vector.get("migration"), call(found, "migration")),
            same(vector.get("phase"), call(found, "phase")),
            same(vector.get("db"), ((Optional<?>) call(found, "db")).orElse(null)),
            same(vector.get("params"), values(call(found, "key"))),
            same(found, ((Optional<?>) method("parseFormer", String.class).invoke(null, given)).orElse(null)));
        return first(problem, prefix == null ? null : same(vector.get("prefix"), values(call(found, "prefix"))));
    }

    private static Object values(Object found) throws Exception {
        Object it = ((Optional<?>) found).orElse(null);
        return it == null ? null : call(it, "values");
    }

    private String names(Map<?, ?> vector) throws Exception {
        Object key = method("build", String.class, Map.class).invoke(null, vector.get("definition"), vector.get("params"));
        Object names = bound(key, "names");
        return first(same(vector.get("read"), call(names, "read")), same(vector.get("write"), call(names, "write")));
    }

    private static byte[] bytes(Object key) {
        return key instanceof Json.Bytes it ? it.bytes() : ((String) key).getBytes(StandardCharsets.UTF_8);
    }

    private String parsed(Map<?, ?> vector) throws Exception {
        Object given = vector.get("key");
        byte[] bytes = bytes(given);
        Object parsed = ((Optional<?>) method("parse", byte[].class).invoke(null, (Object) bytes)).orElse(null);
        if (parsed == null) {
            return same(vector.get("definition"), null);
        }
        Object key = key(parsed);
        String problem = first(
            same(vector.get("definition"), call(key, "definition")),
            same(vector.get("params"), call(key, "values")),
            same(parsed, parse((String) given)));
        if (problem == null && prefix != null) {
            Object own = call(parsed, "prefix");
            return first(
                same(vector.get("prefix"), call(own, "values")),
                same(given, key.getClass().getMethod("key", own.getClass()).invoke(key, own)));
        }
        return first(problem, same(given, prefix == null ? call(key, "key") : given));
    }

    private Object glob(Map<?, ?> vector) throws Exception {
        Object definition = vector.get("definition");
        return prefix == null
            ? method("glob", String.class, Map.class).invoke(null, definition, vector.get("params"))
            : method("glob", prefix.getClass(), String.class, Map.class).invoke(null, prefix, definition, vector.get("params"));
    }

    private String event(Map<?, ?> vector) throws Exception {
        Object event = method("event", String.class, Map.class).invoke(null, vector.get("event"), vector.get("params"));
        List<Object> keys = new ArrayList<>();
        for (Object key : (List<?>) call(event, "keys")) {
            keys.addAll((List<?>) call(bound(key, "names"), "write"));
        }
        return first(same(vector.get("keys"), keys), same(vector.get("globs"), bound(event, "globs")));
    }

    private Object prefix(Map<?, ?> values) throws Exception {
        Class<?> type = Class.forName(keyspace.getName() + "$Prefix");
        return type.getMethod("of", Map.class).invoke(null, values);
    }

    private Object parse(String key) throws Exception {
        return ((Optional<?>) method("parse", String.class).invoke(null, key)).orElse(null);
    }

    private Object key(Object parsed) throws Exception {
        return prefix == null || parsed == null ? parsed : call(parsed, "key");
    }

    private Method method(String name, Class<?>... types) throws NoSuchMethodException {
        return keyspace.getMethod(name, types);
    }

    private static Object call(Object on, String name) throws Exception {
        return on.getClass().getMethod(name).invoke(on);
    }

    /** Calls what takes the prefix where the prefix has parameters. */
    private Object bound(Object on, String name) throws Exception {
        return prefix == null ? call(on, name) : on.getClass().getMethod(name, prefix.getClass()).invoke(on, prefix);
    }

    private static String same(Object expected, Object actual) {
        return Objects.equals(expected, actual) ? null : "expected " + expected + ", got " + actual;
    }

    private static String first(String... problems) {
        for (String problem : problems) {
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }
}
