package loadgate.selenium;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import loadgate.rows.Row;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs JUnit 5 classes once; each test is a sample, unless it reports transactions itself. */
final class JUnitTests {
    private JUnitTests() {}

    static void run(List<String> names, ClassLoader loader) throws ClassNotFoundException {
        for (String name : names) Class.forName(name, false, loader);
        List<DiscoverySelector> classes =
            names.stream().map(DiscoverySelectors::selectClass).collect(Collectors.toList());
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(classes).build();
        Samples samples = new Samples();
        LauncherFactory.create().execute(request, samples);
        if (samples.isEmpty()) throw new IllegalStateException("JUnit ran no test of " + String.join(", ", names));
    }

    private static final class Samples implements TestExecutionListener {
        private final Map<String, long[]> begun = new ConcurrentHashMap<>();
        private volatile boolean isEmpty = true;

        boolean isEmpty() {
            return isEmpty;
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            begun.put(test.getUniqueId(), new long[] {System.currentTimeMillis(), User.reported(), User.failed()});
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            long nowMs = System.currentTimeMillis();
            long[] start = begun.remove(test.getUniqueId());
            // An assumption that does not hold ends a test without an outcome.
            if (start == null || result.getStatus() == TestExecutionResult.Status.ABORTED) return;
            boolean hasPassed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
            // A class that fails before its tests (`@BeforeAll`) fails as a sample, or nothing would tell of it.
            if (!test.isTest() && hasPassed) return;
            isEmpty = false;
            result.getThrowable().ifPresent(Throwable::printStackTrace);
            boolean reportedItself = User.reported() > start[1];
            boolean reportedFailure = User.failed() > start[2];
            if (hasPassed ? reportedItself : reportedFailure) return;
            Row row = new Row();
            row.startMs = start[0];
            row.elapsedMs = nowMs - start[0];
            row.label = test.getDisplayName().replaceFirst("\\(\\)$", "");
            row.isSuccess = hasPassed;
            row.responseCode = hasPassed ? "200" : "500";
            row.responseMessage = hasPassed ? "OK" : nameOf(result);
            row.failureMessage = hasPassed ? "" : messageOf(result);
            row.threadName = User.name();
            row.groupThreads = row.allThreads = User.activeUsers();
            User.report(row);
        }

        private static String nameOf(TestExecutionResult result) {
            return result.getThrowable().map(thrown -> thrown.getClass().getSimpleName()).orElse("failed");
        }

        private static String messageOf(TestExecutionResult result) {
            return result.getThrowable()
                .map(thrown -> String.valueOf(thrown.getMessage()).split("\\r?\\n")[0])
                .orElse("the test failed");
        }
    }
}
