package loadgate.selenium;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import loadgate.rows.Row;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.WebDriver;

/** What a browser says about how its current page was loaded. Times are in milliseconds, 0 where there is none. */
public final class PageTiming {
    /**
     * In a frame, the page around it counts, if the frame may see it. LCP is only known to observers; the entries until now
     * are there as soon as it observes.
     */
    private static final String SCRIPT = String.join("\n",
        "function errorOf(d) {",
        "  if (!/^(chrome-error:|about:(neterror|certerror|httpsonlyerror|blocked))/.test(d.documentURI)) return null;",
        "  var shown = d.querySelector('.error-code'), named = /[?&]e=([^&]*)/.exec(d.documentURI);",
        "  return String(shown && shown.textContent.trim() || named && decodeURIComponent(named[1]) || '');",
        "}",
        "var error = errorOf(document), w = window.top, t, n, lcp = 0;",
        "try { error = error === null ? errorOf(w.document) : error; t = w.performance.timing; } catch (e) {}",
        "if (error !== null || !t) return { error: error };",
        "n = w.performance.getEntriesByType('navigation')[0] || {};",
        "try {",
        "  var o = new w.PerformanceObserver(function () {});",
        "  o.observe({ type: 'largest-contentful-paint', buffered: true });",
        "  o.takeRecords().forEach(function (e) { lcp = Math.max(lcp, e.startTime); });",
        "  o.disconnect();",
        "} catch (e) {}",
        "function since(at) { return at > 0 ? at - t.navigationStart : 0; }",
        "return { start: t.navigationStart, ttfb: since(t.responseStart), domReady: since(t.domContentLoadedEventEnd),",
        "  load: since(t.loadEventEnd), lcp: Math.round(lcp), connect: t.connectEnd - t.connectStart,",
        "  bytes: n.transferSize || 0, status: n.responseStatus || 0 };");

    /** What the browser's own error page says, which it shows when there is no response; null if it shows another page. */
    public final String error;
    /** Of the response, 0 if the browser does not tell. */
    public final long status;
    public final long startMs;
    public final long ttfbMs;
    public final long domReadyMs;
    public final long loadMs;
    public final long lcpMs;
    public final long connectMs;
    public final long bytes;

    private PageTiming(Map<?, ?> told) {
        error = told.get("error") instanceof String ? (String) told.get("error") : null;
        status = number(told, "status");
        startMs = number(told, "start");
        ttfbMs = number(told, "ttfb");
        domReadyMs = number(told, "domReady");
        loadMs = number(told, "load");
        lcpMs = number(told, "lcp");
        connectMs = number(told, "connect");
        bytes = number(told, "bytes");
    }

    /** Null if the browser cannot tell, as after its end. */
    public static PageTiming read(WebDriver driver) {
        try {
            Object told = ((JavascriptExecutor) driver).executeScript(SCRIPT);
            return told instanceof Map ? new PageTiming((Map<?, ?>) told) : null;
        } catch (RuntimeException none) {
            return null;
        }
    }

    /** As long as the page took, or until its document was ready if it is still loading. */
    public long elapsedMs() {
        return loadMs > 0 ? loadMs : domReadyMs;
    }

    /** Rows that describe a sample, under labels of their own; the sample itself counts once. */
    public List<Row> rowsFor(Row sample) {
        List<Row> rows = new ArrayList<>();
        add(rows, sample, "ttfb", ttfbMs);
        add(rows, sample, "dom ready", domReadyMs);
        add(rows, sample, "load", loadMs);
        add(rows, sample, "lcp", lcpMs);
        return rows;
    }

    private void add(List<Row> rows, Row sample, String name, long timeMs) {
        if (timeMs == 0) return;
        Row row = new Row();
        row.startMs = startMs;
        row.elapsedMs = timeMs;
        row.label = sample.label + " [" + name + "]";
        row.partOf = sample.label;
        row.responseCode = "200";
        row.responseMessage = "OK";
        row.threadName = sample.threadName;
        row.groupThreads = sample.groupThreads;
        row.allThreads = sample.allThreads;
        row.url = sample.url;
        rows.add(row);
    }

    private static long number(Map<?, ?> told, String name) {
        Object value = told.get(name);
        return value instanceof Number ? Math.max(0, Math.round(((Number) value).doubleValue())) : 0;
    }
}
