package loadgate.selenium;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Runs a plan as one user: `main NAME` or `test NAME…`, over and over until the test ends, or once without a duration. The
 * exit code is 1 if the plan or one of its threads threw something, and standard error says what.
 */
public final class RunPlan {
    /** Kept, because a logger that nobody holds is forgotten with its level. */
    private static final Logger SELENIUM = Logger.getLogger("org.openqa.selenium");
    private static final Logger DEVTOOLS = Logger.getLogger("org.openqa.selenium.devtools");

    private RunPlan() {}

    public static void main(String[] args) throws Exception {
        List<String> names = List.of(args).subList(1, args.length);
        int exitCode = 0;
        // Each user's would be the same: which protocol it speaks, and that it does not know the newest browsers.
        SELENIUM.setLevel(Level.WARNING);
        DEVTOOLS.setLevel(Level.SEVERE);
        PlanThreads.begin();
        try {
            do {
                // Its own classes are new each time, as if it had been started anew; libraries are shared.
                try (URLClassLoader loader = new URLClassLoader(planPath(), RunPlan.class.getClassLoader())) {
                    Thread.currentThread().setContextClassLoader(loader);
                    if (args[0].equals("main")) callMain(Class.forName(names.get(0), true, loader));
                    else JUnitTests.run(names, loader);
                    PlanThreads.await();
                } finally {
                    endSessions();
                }
                if (PlanThreads.haveFailed()) exitCode = 1;
            } while (exitCode == 0 && User.isRepeated() && System.currentTimeMillis() < User.untilMs());
        } catch (Throwable thrown) {
            thrown.printStackTrace();
            Thrown.write(thrown);
            exitCode = 1;
        }
        // Idle threads that the plan left must not keep the process alive.
        System.exit(exitCode);
    }

    private static void callMain(Class<?> plan) throws Throwable {
        Method main = plan.getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private static URL[] planPath() throws Exception {
        return new URL[] {new File(System.getenv("LOADGATE_CLASSES")).toURI().toURL()};
    }

    /** Closes the browsers that the plan left open; the next time it opens new ones. */
    private static void endSessions() {
        try {
            URL hub = new URL("http://" + System.getenv("WEBDRIVER_HOST") + ":" + System.getenv("WEBDRIVER_PORT")
                + "/loadgate/sessions");
            HttpURLConnection request = (HttpURLConnection) hub.openConnection();
            request.setRequestMethod("DELETE");
            request.getResponseCode();
        } catch (Exception none) {
            // The hub ends them with the user's process.
        }
    }
}
