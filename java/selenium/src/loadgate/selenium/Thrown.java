package loadgate.selenium;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;

/** What a plan threw, for people: the message, and the lines of the plan's own source. */
final class Thrown {
    /** Drivers append their versions and a link; it is in the log. */
    private static final Pattern FOR_DEVELOPERS = Pattern.compile(
        "^(Build info|System info|Driver info|Host info|For documentation|Command:|Capabilities|Session ID|"
            + "\\(Session info|Stacktrace|#\\d+ 0x).*");
    private static final int MESSAGE_LINES = 6;
    private static final int FRAMES = 4;
    private static final int CAUSES = 3;

    private Thrown() {}

    /** Leaves it where the run looks for it. */
    static void write(Throwable thrown) {
        write(describe(thrown));
    }

    static void write(String words) {
        String file = System.getenv("LOADGATE_THROWN");
        if (file == null) return;
        try {
            Files.write(Paths.get(file), words.getBytes(StandardCharsets.UTF_8));
        } catch (IOException none) {
            // The stack trace is in the output too.
        }
    }

    static String describe(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        int depth = 0;
        for (Throwable one = thrown; one != null && depth <= CAUSES; one = one.getCause(), depth++) {
            text.append(depth == 0 ? "" : "caused by: ").append(shorten(one.toString())).append('\n');
            int frames = 0;
            for (StackTraceElement frame : one.getStackTrace())
                if (isOfPlan(frame.getClassName()) && frames++ < FRAMES) text.append("    at ").append(frame).append('\n');
        }
        return text.toString();
    }

    private static String shorten(String message) {
        StringBuilder text = new StringBuilder();
        int lines = 0;
        for (String line : message.split("\\r?\\n")) {
            if (lines == MESSAGE_LINES || FOR_DEVELOPERS.matcher(line.trim()).matches()) break;
            text.append(lines++ == 0 ? "" : "\n").append(line);
        }
        return text.toString().trim();
    }

    private static boolean isOfPlan(String className) {
        String jar = System.getenv("LOADGATE_CLASSES");
        if (jar == null) return false;
        try (ZipFile file = new ZipFile(jar)) {
            return file.getEntry(className.replace('.', '/') + ".class") != null;
        } catch (IOException none) {
            return false;
        }
    }
}
