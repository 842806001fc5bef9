package loadgate.selenium;

import java.util.Optional;
import java.util.Set;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Names for tests that no two of them share: `home`, `search [1] apple`, `Cart › empty`. */
final class TestLabels {
    /** Of JUnit's unique ids. */
    private static final Set<String> OUTER_CLASSES = Set.of("class", "class-template");

    private TestLabels() {}

    static String of(TestIdentifier test, TestPlan plan, boolean hasManyClasses) {
        StringBuilder label = new StringBuilder(test.getDisplayName().replaceFirst("\\(\\)$", ""));
        for (Optional<TestIdentifier> above = plan.getParent(test); above.isPresent(); above = plan.getParent(above.get())) {
            TestIdentifier container = above.get();
            String type = container.getUniqueIdObject().getLastSegment().getType();
            if (type.equals("engine") || OUTER_CLASSES.contains(type) && !hasManyClasses) break;
            label.insert(0, nameOf(container) + (type.contains("class") ? " › " : " "));
        }
        return label.toString();
    }

    /** A method has its parameters' types in its name unless it is given another one. */
    private static String nameOf(TestIdentifier container) {
        String name = container.getDisplayName();
        Optional<TestSource> source = container.getSource();
        if (!source.isPresent() || !(source.get() instanceof MethodSource)) return name;
        String method = ((MethodSource) source.get()).getMethodName();
        return name.startsWith(method + "(") && name.endsWith(")") ? method : name;
    }
}
