package loadgate.rows;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Rows in UTF-8, still to be written. They are put together as bytes: text in between would be copied twice more. */
final class RowBytes {
    private byte[] bytes = new byte[1 << 12];
    private final byte[] digits = new byte[20];
    private int length;

    int length() {
        return length;
    }

    void clear() {
        length = 0;
    }

    void writeTo(OutputStream out) throws IOException {
        out.write(bytes, 0, length);
    }

    RowBytes add(char ascii) {
        makeRoom(1);
        bytes[length++] = (byte) ascii;
        return this;
    }

    RowBytes add(long number) {
        if (number < 0) return add(Long.toString(number));
        int first = digits.length;
        do {
            digits[--first] = (byte) ('0' + number % 10);
            number /= 10;
        } while (number > 0);
        makeRoom(digits.length - first);
        System.arraycopy(digits, first, bytes, length, digits.length - first);
        length += digits.length - first;
        return this;
    }

    RowBytes add(String text) {
        return addAll(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Control characters become spaces: a row is one line, and a page's title or a message may contain anything. */
    RowBytes addField(String text) {
        if (text == null) return this;
        boolean isQuoted = text.indexOf(',') >= 0 || text.indexOf('"') >= 0;
        makeRoom(2 * text.length() + 2);
        if (isQuoted) bytes[length++] = '"';
        for (int at = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            if (character >= 0x80) {
                int end = at + 1;
                while (end < text.length() && text.charAt(end) >= 0x80) end++;
                add(text.substring(at, end));
                makeRoom(2 * (text.length() - end) + 2);
                at = end - 1;
                continue;
            }
            if (character == '"') bytes[length++] = '"';
            bytes[length++] = (byte) Math.max(character, ' ');
        }
        if (isQuoted) bytes[length++] = '"';
        return this;
    }

    private RowBytes addAll(byte[] more) {
        makeRoom(more.length);
        System.arraycopy(more, 0, bytes, length, more.length);
        length += more.length;
        return this;
    }

    private void makeRoom(int more) {
        if (length + more > bytes.length) bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
}
