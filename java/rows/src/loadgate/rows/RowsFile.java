package loadgate.rows;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A file of samples in JMeter's CSV. Only complete rows reach it, each batch in one write at its end, so that several
 * processes can share one file.
 */
public final class RowsFile implements AutoCloseable {
    public static final String HEADER = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,"
        + "success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";
    /** How the message begins if samples could not be written; the reason follows. */
    public static final String FAILED = "samples could not be written: ";
    /** After the others, in files whose rows can be part of each other. */
    private static final String PART_OF = ",partOf";
    private static final int FLUSH_AT_LENGTH = 1 << 16;

    private final RowBytes pending = new RowBytes();
    private final FileOutputStream file;
    private final boolean hasParts;
    private boolean isClosed;
    private IOException failure;

    public RowsFile(String path) throws IOException {
        this(path, false);
    }

    /** With `hasParts`, rows have a column for what they are part of. */
    public RowsFile(String path, boolean hasParts) throws IOException {
        this.hasParts = hasParts;
        file = new FileOutputStream(path, true);
        if (file.getChannel().size() == 0) pending.add(HEADER).add(hasParts ? PART_OF : "").add('\n');
        flush();
    }

    public void flushEvery(long ms) {
        Thread flusher = new Thread(() -> flushNowAndThen(ms), "rows");
        flusher.setDaemon(true);
        flusher.start();
    }

    /** Adds a row, unless the file is closed: what ends after the end of the test is not a sample of it. */
    public synchronized void add(Row row) {
        if (isClosed) return;
        row.appendTo(pending, hasParts);
        if (pending.length() >= FLUSH_AT_LENGTH) flush();
    }

    public synchronized void flush() {
        if (isClosed || pending.length() == 0) return;
        // After half a row, another one would be taken for its end.
        if (failure == null) write();
        pending.clear();
    }

    private void write() {
        try {
            pending.writeTo(file);
        } catch (IOException thrown) {
            // The disk may be full. A plan must not continue as if its samples were recorded.
            failure = thrown;
        }
    }

    /** Throws if rows could not be written. */
    public synchronized void check() {
        if (failure != null) throw new UncheckedIOException(FAILED + failure.getMessage(), failure);
    }

    @Override
    public synchronized void close() {
        flush();
        isClosed = true;
        try {
            file.close();
        } catch (IOException thrown) {
            if (failure == null) failure = thrown;
        }
    }

    private void flushNowAndThen(long ms) {
        try {
            while (true) {
                Thread.sleep(ms);
                flush();
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }
}
