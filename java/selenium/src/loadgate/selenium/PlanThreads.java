package loadgate.selenium;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;

/** The threads of a plan. As with plain Java, it ends with the last of them, apart from daemons. */
final class PlanThreads {
    private static final long LOOK_EVERY_MS = 50;
    private static final long SAY_AFTER_MS = 10_000;
    /** Where a thread of a pool or a timer waits for work. A pool that nobody shut down would never end. */
    private static final Set<String> IDLE =
        Set.of("java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.TimerThread.mainLoop");
    private static final String LATER = "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue";
    /** Where a thread waits for the end of others. */
    private static final Set<String> WAITING = Set.of("java.lang.Thread.join", "java.util.concurrent.CountDownLatch.await",
        "java.util.concurrent.FutureTask.get", "java.util.concurrent.ThreadPoolExecutor.awaitTermination");

    private static final Set<Thread> OTHERS = ConcurrentHashMap.newKeySet();
    private static final Set<Thread> ENDED = ConcurrentHashMap.newKeySet();
    private static volatile Thread first;
    private static volatile boolean hasFailed;

    private PlanThreads() {}

    /** Before the plan starts, in the thread that runs it. */
    static void begin() {
        first = Thread.currentThread();
        OTHERS.addAll(Thread.getAllStackTraces().keySet());
        OTHERS.remove(first);
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
            System.err.println("Exception in thread \"" + thread.getName() + "\"");
            thrown.printStackTrace();
            if (!isOfPlan(thread)) return;
            Thrown.write(thrown);
            hasFailed = true;
        });
    }

    /** Whether one of them ended with an exception. */
    static boolean haveFailed() {
        return hasFailed;
    }

    /** Waits until the plan has no thread with something to do. */
    static void await() throws InterruptedException {
        long sayMs = System.currentTimeMillis() + SAY_AFTER_MS;
        for (String busy = busy(PlanThreads::isIdle); !busy.isEmpty(); busy = busy(PlanThreads::isIdle)) {
            if (System.currentTimeMillis() > sayMs) {
                System.err.println("The plan's threads go on after its end: " + busy);
                sayMs = Long.MAX_VALUE;
            }
            Thread.sleep(LOOK_EVERY_MS);
        }
    }

    /** At the end of the test, after the last transaction of this thread: the process ends with that of the last one. */
    static void endThis() {
        ENDED.add(Thread.currentThread());
        while (!busy((thread, stack) -> isIdle(thread, stack) || isAt(stack, WAITING)).isEmpty()) {
            try {
                Thread.sleep(LOOK_EVERY_MS);
            } catch (InterruptedException ignored) {
                // By a plan that has no time left either.
            }
        }
        System.exit(hasFailed ? 1 : 0);
    }

    private static String busy(BiPredicate<Thread, StackTraceElement[]> isResting) {
        return Thread.getAllStackTraces().entrySet().stream()
            .filter(entry -> isOfPlan(entry.getKey()) && entry.getKey() != Thread.currentThread())
            .filter(entry -> !ENDED.contains(entry.getKey()) && !isResting.test(entry.getKey(), entry.getValue()))
            .map(Map.Entry::getKey)
            .map(Thread::getName)
            .sorted()
            .collect(Collectors.joining(", "));
    }

    private static boolean isOfPlan(Thread thread) {
        return !thread.isDaemon() && !OTHERS.contains(thread);
    }

    private static boolean isIdle(Thread thread, StackTraceElement[] stack) {
        // A task that is due later is something to do, and so is a timer's.
        boolean hasTaskLater = thread.getState() == Thread.State.TIMED_WAITING
            && (isIn(stack, LATER) || isIn(stack, "java.util.TimerThread"));
        // The plan's first thread is here when it has run the plan.
        boolean isHere = thread == first && isIn(stack, PlanThreads.class.getName());
        return isHere || isAt(stack, IDLE) && thread.getState() != Thread.State.RUNNABLE && !hasTaskLater;
    }

    private static boolean isIn(StackTraceElement[] stack, String className) {
        for (StackTraceElement frame : stack) if (frame.getClassName().equals(className)) return true;
        return false;
    }

    private static boolean isAt(StackTraceElement[] stack, Set<String> places) {
        for (StackTraceElement frame : stack)
            if (places.contains(frame.getClassName() + "." + frame.getMethodName())) return true;
        return false;
    }
}
