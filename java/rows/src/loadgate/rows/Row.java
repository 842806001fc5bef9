package loadgate.rows;

/** One sample, in the columns of JMeter's CSV. What is not set is empty or 0. */
public final class Row {
    /** When it started, in milliseconds since 1970. */
    public long startMs;
    public long elapsedMs;
    public String label = "";
    public String responseCode = "";
    public String responseMessage = "";
    public String threadName = "";
    public String dataType = "text";
    public boolean isSuccess = true;
    public String failureMessage = "";
    public long bytes;
    public long sentBytes;
    /** The users of its group, and all users, active at its end. */
    public int groupThreads = 1;
    public int allThreads = 1;
    public String url = "null";
    public long latencyMs;
    public long idleMs;
    public long connectMs;
    /** The label of the sample that it is part of, as the load time of a page is; such a row counts for its own label only. */
    public String partOf = "";

    void appendTo(StringBuilder out, boolean hasParts) {
        out.append(startMs).append(',').append(notNegative(elapsedMs)).append(',');
        field(out, label).append(',');
        field(out, responseCode).append(',');
        field(out, responseMessage).append(',');
        field(out, threadName).append(',');
        field(out, dataType).append(',').append(isSuccess).append(',');
        field(out, failureMessage).append(',').append(notNegative(bytes)).append(',').append(notNegative(sentBytes));
        out.append(',').append(groupThreads).append(',').append(allThreads).append(',');
        field(out, url).append(',').append(notNegative(latencyMs)).append(',').append(notNegative(idleMs));
        out.append(',').append(notNegative(connectMs));
        if (hasParts) field(out.append(','), partOf);
        out.append('\n');
    }

    private static long notNegative(long number) {
        return Math.max(0, number);
    }

    /** Control characters become spaces: a row is one line, and a page's title or a message may contain anything. */
    private static StringBuilder field(StringBuilder out, String text) {
        if (text == null) return out;
        boolean isQuoted = text.indexOf(',') >= 0 || text.indexOf('"') >= 0;
        if (isQuoted) out.append('"');
        for (int at = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            if (character == '"') out.append('"');
            out.append(character < ' ' ? ' ' : character);
        }
        return isQuoted ? out.append('"') : out;
    }
}
