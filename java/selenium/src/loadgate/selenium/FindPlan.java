package loadgate.selenium;

import java.io.File;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import loadgate.plan.PlanJar;

/**
 * Lists what can be run among compiled classes, one line each: `main Name`, `test Name` (JUnit 5) or `old-test Name`.
 * FindPlan CLASSES JAR: the classes are loaded as they are when they run, after those of the class path, so that a plan
 * replaces nothing; the jar is made of them.
 */
public final class FindPlan {
    private static final String NESTED = "org.junit.jupiter.api.Nested";
    private static final String OWN_PACKAGE = "loadgate.";

    private FindPlan() {}

    public static void main(String[] args) throws Exception {
        Path folder = Paths.get(args[0]);
        List<String> names = classNames(folder);
        for (String name : names)
            if (name.startsWith(OWN_PACKAGE)) {
                System.out.println(name + " is in a package of the tool's own: put it into another one");
                System.exit(1);
            }
        PlanJar.write(folder, Paths.get(args[1]));
        URL[] path = {folder.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(path, FindPlan.class.getClassLoader())) {
            for (String name : names) print(name, Class.forName(name, false, loader));
        }
    }

    private static void print(String name, Class<?> type) {
        if (hasMain(type)) System.out.println("main " + name);
        if (has(type, "org.junit.platform.commons.annotation.Testable")) System.out.println("test " + name);
        if (has(type, "org.junit.Test")) System.out.println("old-test " + name);
    }

    private static List<String> classNames(Path folder) throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(file -> folder.relativize(file).toString())
                .filter(file -> file.endsWith(".class") && !file.endsWith("module-info.class"))
                .map(file -> file.substring(0, file.length() - ".class".length()).replace(File.separatorChar, '.'))
                .sorted()
                .collect(Collectors.toList());
        }
    }

    private static boolean hasMain(Class<?> type) {
        return Stream.of(type.getDeclaredMethods()).anyMatch(method -> method.getName().equals("main")
            && Modifier.isStatic(method.getModifiers())
            && Modifier.isPublic(method.getModifiers())
            && method.getParameterCount() == 1
            && method.getParameterTypes()[0] == String[].class);
    }

    /** Abstract classes are run through others, and so are inner ones. */
    private static boolean has(Class<?> type, String annotation) {
        if (Modifier.isAbstract(type.getModifiers())) return false;
        return (!type.isMemberClass() || Modifier.isStatic(type.getModifiers())) && hasInside(type, annotation);
    }

    private static boolean hasInside(Class<?> type, String annotation) {
        for (Class<?> part = type; part != null && part != Object.class; part = part.getSuperclass()) {
            for (Method method : part.getDeclaredMethods())
                for (Annotation found : method.getAnnotations()) if (isOrMeans(found, annotation, 0)) return true;
            for (Class<?> inner : part.getDeclaredClasses())
                for (Annotation found : inner.getAnnotations())
                    if (isOrMeans(found, NESTED, 0) && hasInside(inner, annotation)) return true;
        }
        return false;
    }

    /** An annotation may be annotated itself: `@ParameterizedTest` is a `@TestTemplate`, which is `@Testable`. */
    private static boolean isOrMeans(Annotation found, String name, int depth) {
        Class<? extends Annotation> type = found.annotationType();
        if (type.getName().equals(name)) return true;
        if (depth > 3 || type.getName().startsWith("java.")) return false;
        return Stream.of(type.getAnnotations()).anyMatch(above -> isOrMeans(above, name, depth + 1));
    }
}
