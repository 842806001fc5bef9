package io.flood.selenium;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import loadgate.rows.Row;
import loadgate.selenium.PageTiming;
import loadgate.selenium.User;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.WebDriverException;

/**
 * What scripts report their transactions with. Its name and its public methods are those that existing scripts call.
 *
 * <p>A transaction lasts from start_transaction until it is reported. Without start_transaction it lasts as long as its page
 * took to load; without a new page, since the transaction before it. A time that the script gives comes first. A page
 * belongs to a transaction if its loading began during it.
 */
public class FloodSump {
    private static final long MARK_TIMEOUT_MS = 30_000;
    private static final long LOOK_EVERY_MS = 200;
    /** Browsers round their times. */
    private static final long ROUNDED_MS = 2;
    private static final double LONGEST_MS = 24 * 60 * 60 * 1000.0;
    /** From when on a page of a browser belongs to its next transaction. A script may have a FloodSump for each of its parts. */
    private static final Map<WebDriver, Long> NEXT_PAGE_MS = Collections.synchronizedMap(new WeakHashMap<>());

    private String name;
    private boolean isStarted;
    private long startMs = System.currentTimeMillis();

    public FloodSump() {}

    /** The size of the window; a headless browser has the one that the script gives it. */
    public FloodSump(int width, int height) {}

    public void started() {
        startMs = System.currentTimeMillis();
    }

    public void finished() {}

    /** Every sample is written at once. */
    public void flushSamples() {}

    public String numberOfBrowsers() {
        return String.valueOf(User.activeUsers());
    }

    public void start_transaction(String transactionName) {
        name = transactionName;
        isStarted = true;
        startMs = System.currentTimeMillis();
    }

    public void passed_transaction(WebDriver driver) {
        transaction(driver, nameOrTitle(driver), "true", 200, null, null);
    }

    public void passed_transaction(WebDriver driver, String label) {
        transaction(driver, label, "true", 200, null, null);
    }

    public void passed_transaction(WebDriver driver, String label, Integer code) {
        transaction(driver, label, "true", code, null, null);
    }

    public void passed_transaction(WebDriver driver, String label, Integer code, Double timeMs) {
        transaction(driver, label, "true", code, timeMs, null);
    }

    public void failed_transaction(WebDriver driver) {
        transaction(driver, nameOrTitle(driver), "false", 500, null, null);
    }

    public void failed_transaction(WebDriver driver, Integer code) {
        transaction(driver, nameOrTitle(driver), "false", code, null, null);
    }

    public void failed_transaction(WebDriver driver, String label) {
        transaction(driver, label, "false", 500, null, null);
    }

    public void failed_transaction(WebDriver driver, String label, Integer code) {
        transaction(driver, label, "false", code, null, null);
    }

    public void failed_transaction(WebDriver driver, String label, Integer code, Double timeMs) {
        transaction(driver, label, "false", code, timeMs, null);
    }

    public void webdriver_exception(WebDriver driver, WebDriverException thrown) {
        transaction(driver, nameOrTitle(driver), "false", 0, null, thrown);
    }

    /** Reports a mark that the page sets with performance.mark, as soon as it does. */
    public void get_mark(WebDriver driver, String mark) {
        reportEntry(driver, mark, "mark", "startTime");
    }

    /** Reports a measure that the page takes with performance.measure, as soon as it does. */
    public void get_measure(WebDriver driver, String measure) {
        reportEntry(driver, measure, "measure", "duration");
    }

    public void transaction(WebDriver driver, String label, String successful, Integer code, Double timeMs) {
        transaction(driver, label, successful, code, timeMs, null);
    }

    public void transaction(
        WebDriver driver, String label, String successful, Integer code, Double timeMs, WebDriverException thrown) {
        // Before the browser is asked, which takes time too.
        long nowMs = System.currentTimeMillis();
        boolean hasDialog = hasDialog(driver);
        PageTiming shown = hasDialog ? null : PageTiming.read(driver);
        PageTiming page = newPage(driver, shown, nowMs);
        Row row = new Row();
        row.isSuccess = "true".equalsIgnoreCase(successful);
        row.startMs = startMs;
        row.elapsedMs = nowMs - startMs;
        // A failed transaction waited for something that did not come, after its page had loaded.
        if (page != null && !isStarted && row.isSuccess && page.elapsedMs() > 0) {
            row.startMs = page.startMs;
            row.elapsedMs = page.elapsedMs();
        }
        if (isPossible(timeMs)) {
            row.elapsedMs = Math.round(timeMs);
            row.startMs = nowMs - row.elapsedMs;
        }
        row.label = label == null || label.trim().isEmpty() ? "(no title)" : label;
        row.responseCode = code == null ? "" : String.valueOf(code);
        row.responseMessage = row.isSuccess ? "OK" : thrown == null ? "failed" : thrown.getClass().getSimpleName();
        row.failureMessage = row.isSuccess ? "" : thrown == null ? "the script reported a failure" : firstLine(thrown);
        if (row.isSuccess && shown != null && shown.error != null) failWith(row, shown.error);
        row.threadName = User.name();
        row.groupThreads = row.allThreads = User.activeUsers();
        row.url = hasDialog ? "null" : urlOf(driver);
        name = null;
        isStarted = false;
        report(row, page);
        startMs = System.currentTimeMillis();
    }

    /** A script that looks at nothing takes every page for the one that it wanted. */
    private static void failWith(Row row, String error) {
        row.isSuccess = false;
        row.responseCode = "0";
        row.responseMessage = "browser error page";
        row.failureMessage = "the browser shows its error page" + (error.isEmpty() ? "" : ": " + error);
    }

    private static void report(Row row, PageTiming page) {
        List<Row> rows = new ArrayList<>();
        rows.add(row);
        if (page != null) {
            row.latencyMs = page.ttfbMs;
            row.connectMs = page.connectMs;
            row.bytes = page.bytes;
            if (row.isSuccess) {
                rows.addAll(page.rowsFor(row));
                // The script decides whether it passed, and the server what it responded with.
                if (page.status >= 400) row.responseCode = String.valueOf(page.status);
            }
        }
        User.report(rows.toArray(new Row[0]));
    }

    /** The page that the browser shows if it was loaded for this transaction, else null. */
    private PageTiming newPage(WebDriver driver, PageTiming shown, long nowMs) {
        long sinceMs = Math.max(isStarted ? startMs : 0, NEXT_PAGE_MS.getOrDefault(driver, 0L));
        boolean isNew =
            shown != null && shown.error == null && shown.ttfbMs > 0 && shown.startMs >= sinceMs - ROUNDED_MS;
        NEXT_PAGE_MS.put(driver, isNew ? Math.max(nowMs, shown.startMs + ROUNDED_MS + 1) : nowMs);
        return isNew ? shown : null;
    }

    /** What cannot be a time is not taken for one; the transaction has its own. */
    private static boolean isPossible(Double timeMs) {
        return timeMs != null && timeMs >= 0 && timeMs <= LONGEST_MS;
    }

    /** With an open dialog, any question about the page would close it, and the script could not. */
    private static boolean hasDialog(WebDriver driver) {
        try {
            driver.switchTo().alert();
            return true;
        } catch (RuntimeException none) {
            return false;
        }
    }

    private void reportEntry(WebDriver driver, String label, String type, String property) {
        String script = "var e = performance.getEntriesByName(arguments[0], arguments[1])[0];"
            + "return e ? e[arguments[2]] : null";
        long untilMs = System.currentTimeMillis() + MARK_TIMEOUT_MS;
        while (true) {
            Object found = hasDialog(driver)
                ? null
                : ((JavascriptExecutor) driver).executeScript(script, label, type, property);
            if (found instanceof Number) {
                transaction(driver, label, "true", 200, ((Number) found).doubleValue(), null);
                return;
            }
            if (System.currentTimeMillis() > untilMs) {
                transaction(driver, label, "false", 500, null, null);
                return;
            }
            try {
                Thread.sleep(LOOK_EVERY_MS);
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private String nameOrTitle(WebDriver driver) {
        if (name != null) return name;
        if (hasDialog(driver)) return null;
        try {
            return driver.getTitle();
        } catch (RuntimeException none) {
            return null;
        }
    }

    private static String urlOf(WebDriver driver) {
        try {
            return driver.getCurrentUrl();
        } catch (RuntimeException none) {
            return "null";
        }
    }

    /** The rest of a driver's message says which versions and machine it has. */
    private static String firstLine(WebDriverException thrown) {
        String message = thrown.getMessage();
        return message == null ? thrown.getClass().getName() : message.split("\\r?\\n")[0];
    }
}
