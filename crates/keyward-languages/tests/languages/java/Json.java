import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much of JSON as the vectors use. */
final class Json {
    record Bytes(byte[] bytes) {}

    private final String text;
    private int at;

    Json(String text) {
        this.text = text;
    }

    Object value() {
        switch (next()) {
            case '{' -> {
                return object();
            }
            case '[' -> {
                List<Object> list = new ArrayList<>();
                for (at++; next() != ']'; ) {
                    list.add(value());
                    at += next() == ',' ? 1 : 0;
                }
                at++;
                return list;
            }
            case '"' -> {
                return string();
            }
            default -> {
                int from = at;
                while (",]} \n".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
                String word = text.substring(from, at);
                return word.equals("null") ? null : (Object) Long.parseLong(word);
            }
        }
    }

    private Object object() {
        Map<String, Object> object = new LinkedHashMap<>();
        for (at++; next() != '}'; ) {
            String name = string();
            next();
            at++;
            object.put(name, value());
            at += next() == ',' ? 1 : 0;
        }
        at++;
        if (object.size() == 1 && object.get("utf16") instanceof String unit && unit.length() == 4) {
            return String.valueOf((char) Integer.parseInt(unit, 16));
        }
        if (object.size() == 1 && object.get("hex") instanceof String hex && hex.matches("([0-9a-f]{2})+")) {
            return new Bytes(HexFormat.of().parseHex(hex));
        }
        return object;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            char next = text.charAt(at);
            if (next == '\\') {
                next = text.charAt(++at);
                int known = "bfnrt".indexOf(next);
                if (known >= 0) {
                    next = "\b\f\n\r\t".charAt(known);
                } else if (next == 'u') {
                    next = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                    at += 4;
                }
            }
            string.append(next);
        }
        at++;
        return string.toString();
    }

    private char next() {
        while (" \n:".indexOf(text.charAt(at)) >= 0 && text.charAt(at) != ':') {
            at++;
        }
        return text.charAt(at);
    }
}
