package loadgate.selenium;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Takes the time of test methods alone: what surrounds them often starts and quits a browser. JUnit finds it as a service. */
public final class MethodTimes implements InvocationInterceptor {
    private static final Map<String, long[]> TIMES = new ConcurrentHashMap<>();

    /** When the method of a test started, and how long it took; null if it did not start. */
    static long[] take(String uniqueId) {
        return TIMES.remove(uniqueId);
    }

    @Override
    public void interceptTestMethod(
        Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        measure(test, context);
    }

    @Override
    public void interceptTestTemplateMethod(
        Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        measure(test, context);
    }

    @Override
    public void interceptDynamicTest(
        Invocation<Void> test, DynamicTestInvocationContext invocation, ExtensionContext context) throws Throwable {
        measure(test, context);
    }

    private static void measure(Invocation<Void> test, ExtensionContext context) throws Throwable {
        long startMs = System.currentTimeMillis();
        long startNs = System.nanoTime();
        try {
            test.proceed();
        } finally {
            long elapsedMs = (System.nanoTime() - startNs) / 1_000_000;
            TIMES.put(context.getUniqueId(), new long[] {startMs, elapsedMs});
        }
    }
}
