package loadgate.selenium;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.atomic.AtomicLong;
import loadgate.rows.Row;
import loadgate.rows.RowsFile;

/** The simulated user of this process: its name, its samples, and what the run tells it. */
public final class User {
    private static final AtomicLong REPORTED = new AtomicLong();
    private static final AtomicLong FAILED = new AtomicLong();
    private static RowsFile rows;

    private User() {}

    public static String name() {
        return setting("LOADGATE_USER", "user 1-1");
    }

    /** Writes samples to the run's file at once: there are few, and they survive a kill. */
    public static void report(Row... samples) {
        write(samples);
        // The last transaction may finish; a script with a loop of its own would start another one.
        if (isRepeated() && System.currentTimeMillis() >= untilMs()) PlanThreads.endThis();
    }

    private static synchronized void write(Row... samples) {
        try {
            if (rows == null) {
                rows = new RowsFile(setting("LOADGATE_SAMPLES", "samples.csv"), true);
                // What a script still reports while it is being ended is not a sample of the test.
                Runtime.getRuntime().addShutdownHook(new Thread(rows::close));
            }
            for (Row sample : samples) rows.add(sample);
            rows.flush();
            rows.check();
        } catch (IOException | UncheckedIOException thrown) {
            endWithout(thrown.getMessage());
        } catch (IllegalStateException ending) {
            System.err.println("A sample is not recorded: " + ending.getMessage());
            return;
        }
        REPORTED.incrementAndGet();
        if (!samples[0].isSuccess) FAILED.incrementAndGet();
        noteTime();
    }

    /** Ends the user, because a script would catch an exception and go on without its samples. */
    private static void endWithout(String why) {
        String words = why.startsWith(RowsFile.FAILED) ? why : RowsFile.FAILED + why;
        System.err.println(words);
        Thrown.write(words);
        System.exit(1);
    }

    /** Whether the test has a duration, during which the plan is repeated. */
    static boolean isRepeated() {
        return Integer.getInteger("loadgate.repeat", 0) > 0;
    }

    /** The age of this file tells for how long a user has reported nothing. */
    private static void noteTime() {
        String file = setting("LOADGATE_REPORTED", "");
        if (file.isEmpty()) return;
        try {
            Files.write(Paths.get(file), new byte[0]);
        } catch (IOException none) {
            // Then it looks older than it is, which costs nothing but a question in the report.
        }
    }

    /** How many transactions were reported so far, and how many of them failed. */
    public static long reported() {
        return REPORTED.get();
    }

    public static long failed() {
        return FAILED.get();
    }

    /** How many users are active on this node at the moment. */
    public static int activeUsers() {
        return (int) Math.max(1, readState(0, 1));
    }

    /** When the test ends, in milliseconds since 1970: far away until the first browser is there. */
    public static long untilMs() {
        return readState(1, Long.MAX_VALUE);
    }

    /** The run keeps one line up to date: active users, and the time of the end once it is known. */
    private static long readState(int index, long otherwise) {
        String file = setting("LOADGATE_STATE", "");
        if (file.isEmpty()) return otherwise;
        try {
            Path path = Paths.get(file);
            String[] words = new String(Files.readAllBytes(path), StandardCharsets.US_ASCII).trim().split(" ");
            return words.length > index ? Long.parseLong(words[index]) : otherwise;
        } catch (IOException | NumberFormatException none) {
            return otherwise;
        }
    }

    private static String setting(String variable, String otherwise) {
        String value = System.getenv(variable);
        return value == null || value.isEmpty() ? otherwise : value;
    }
}
