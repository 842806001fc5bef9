package loadgate.rows;

/** One sample, in the columns of JMeter's CSV. What is not set is empty or 0. */
public final class Row {
    /** The columns that are numbers, one bit each. */
    private static final int NUMBERS = 0b1_1101_1110_0000_0011;

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

    /** In a loop, because a line per column would be compiled as one huge method, while the load needs the CPU. */
    void appendTo(RowBytes out, boolean hasParts) {
        int columns = hasParts ? 18 : 17;
        for (int column = 0; column < columns; column++) {
            if (column > 0) out.add(',');
            if (isNumber(column)) out.add(Math.max(0, numberOf(column)));
            else out.addField(textOf(column));
        }
        out.add('\n');
    }

    private static boolean isNumber(int column) {
        return (NUMBERS >> column & 1) == 1;
    }

    private long numberOf(int column) {
        switch (column) {
            case 0: return startMs;
            case 1: return elapsedMs;
            case 9: return bytes;
            case 10: return sentBytes;
            case 11: return groupThreads;
            case 12: return allThreads;
            case 14: return latencyMs;
            case 15: return idleMs;
            default: return connectMs;
        }
    }

    private String textOf(int column) {
        switch (column) {
            case 2: return label;
            case 3: return responseCode;
            case 4: return responseMessage;
            case 5: return threadName;
            case 6: return dataType;
            case 7: return isSuccess ? "true" : "false";
            case 8: return failureMessage;
            case 13: return url;
            default: return partOf;
        }
    }
}
