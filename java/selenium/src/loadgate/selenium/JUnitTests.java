package loadgate.selenium;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import loadgate.rows.Row;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs JUnit 5 classes once; each test is a sample, unless it reports transactions itself. */
final class JUnitTests {
    private static final String DETECTION = "junit.jupiter.extensions.autodetection";

    /** Warns of tests that JUnit does not run, such as private ones. Kept, as a logger that nobody holds is forgotten. */
    private static final Logger ISSUES = Logger.getLogger("org.junit.platform.launcher.core.DiscoveryIssueNotifier");

    private JUnitTests() {}

    static void run(List<String> names, ClassLoader loader) throws ClassNotFoundException {
        for (String name : names) Class.forName(name, false, loader);
        List<DiscoverySelector> classes =
            names.stream().map(DiscoverySelectors::selectClass).collect(Collectors.toList());
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request().selectors(classes);
        request.configurationParameter(DETECTION + ".enabled", "true");
        // Others are found if the plan's parameters say so.
        if (!Boolean.getBoolean(DETECTION + ".enabled"))
            request.configurationParameter(DETECTION + ".include", MethodTimes.class.getName());
        Samples samples = new Samples(names.size() > 1);
        LauncherFactory.create().execute(request.build(), samples);
        // Once is enough.
        ISSUES.setLevel(Level.SEVERE);
        if (samples.isEmpty()) throw new IllegalStateException("JUnit ran no test of " + String.join(", ", names));
    }

    private static final class Samples implements TestExecutionListener {
        private final Map<String, long[]> begun = new ConcurrentHashMap<>();
        private final boolean hasManyClasses;
        private volatile TestPlan plan;
        private volatile boolean isEmpty = true;

        Samples(boolean hasManyClasses) {
            this.hasManyClasses = hasManyClasses;
        }

        boolean isEmpty() {
            return isEmpty;
        }

        @Override
        public void testPlanExecutionStarted(TestPlan started) {
            plan = started;
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            begun.put(test.getUniqueId(), new long[] {System.currentTimeMillis(), User.reported(), User.failed()});
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            long nowMs = System.currentTimeMillis();
            long[] start = begun.remove(test.getUniqueId());
            long[] method = MethodTimes.take(test.getUniqueId());
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
            // Without the time of `@BeforeEach` and `@AfterEach`, unless the test did not get beyond the former.
            row.startMs = method == null ? start[0] : method[0];
            row.elapsedMs = method == null ? nowMs - start[0] : method[1];
            row.label = TestLabels.of(test, plan, hasManyClasses);
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
