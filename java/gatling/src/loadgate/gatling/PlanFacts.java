package loadgate.gatling;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Modifier;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import loadgate.plan.PlanJar;

/**
 * Prints what the classes of a plan say about it: PlanFacts CLASSES JAR, or PlanFacts JAR if the plan is one, with the plan
 * and Gatling on the class path, Gatling first. The first jar is made of the classes.
 * A line is a kind, a tab and a value: `simulation` is a class that can be run, `hidden` one that Gatling could not
 * construct, `broken` a class that cannot be loaded and may be a simulation, both with a tab and the reason;
 * `expression` is a string in the syntax of Gatling 2, `path` a literal that looks like the path of a file.
 */
public final class PlanFacts {
  /** A jar may hold everything that the plan needs, Gatling itself included. */
  private static final Pattern LIBRARY =
      Pattern.compile("(?:META-INF|io/gatling|io/netty|scala|kotlin|kotlinx|com/fasterxml|org/apache|org/slf4j|net/sf)/.*");
  private static final Pattern OLD_EXPRESSION = Pattern.compile("\\$\\{[^{}\\s]{1,100}\\}");
  private static final Pattern FILE_PATH = Pattern.compile("(?:[^/\\p{Cntrl}]{1,100}/){1,10}[^/\\p{Cntrl}]{1,100}");

  public static void main(String[] args) throws IOException {
    Path plan = Paths.get(args[0]);
    if (Files.isDirectory(plan)) {
      PlanJar.write(plan, Paths.get(args[1]));
      printFacts(plan, false);
    } else {
      try (FileSystem jar = FileSystems.newFileSystem(plan, (ClassLoader) null)) {
        printFacts(jar.getPath("/"), true);
      }
    }
  }

  private static void printFacts(Path root, boolean hasLibraries) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(root)) {
      files = all.filter(file -> file.toString().endsWith(".class")).sorted().collect(Collectors.toList());
    }
    for (Path file : files) {
      String name = root.relativize(file).toString();
      if (LIBRARY.matcher(name).matches() || name.endsWith("module-info.class")) continue;
      byte[] bytes;
      try (InputStream in = Files.newInputStream(file)) {
        bytes = in.readAllBytes();
      }
      ClassConstants constants = new ClassConstants(bytes);
      printClass(name.substring(0, name.length() - ".class".length()).replace('/', '.'), constants);
      printStrings(constants, hasLibraries);
    }
  }

  private static void printClass(String name, ClassConstants constants) {
    try {
      Class<?> type = Class.forName(name, false, PlanFacts.class.getClassLoader());
      if (!isSimulation(type) || Modifier.isAbstract(type.getModifiers())) return;
      String obstacle = obstacleOf(type);
      if (obstacle.isEmpty()) print("simulation", name);
      else print("hidden", name + "\t" + obstacle);
    } catch (ClassNotFoundException | LinkageError thrown) {
      if (mayBeSimulation(constants)) print("broken", name + "\t" + Failure.oneLine(thrown.toString()));
    }
  }

  /** A jar may hold classes for libraries that are not there; most of them extend what is no simulation. */
  private static boolean mayBeSimulation(ClassConstants constants) {
    if (Modifier.isAbstract(constants.modifiers())) return false;
    try {
      String parent = constants.superclass().replace('/', '.');
      return isSimulation(Class.forName(parent, false, PlanFacts.class.getClassLoader()));
    } catch (ClassNotFoundException | LinkageError missing) {
      return true;
    }
  }

  private static boolean isSimulation(Class<?> type) {
    return io.gatling.javaapi.core.Simulation.class.isAssignableFrom(type)
        || io.gatling.core.scenario.Simulation.class.isAssignableFrom(type);
  }

  /** Why Gatling cannot construct it; empty if it can. */
  private static String obstacleOf(Class<?> type) {
    if (!Modifier.isPublic(type.getModifiers())) return "is not public";
    try {
      type.getConstructor();
      return "";
    } catch (NoSuchMethodException none) {
      return "has no public constructor without parameters";
    }
  }

  /** A library in a jar may use `${…}` for purposes of its own; it does not use Gatling. */
  private static void printStrings(ClassConstants constants, boolean mayBeLibrary) {
    boolean isOfPlan = !mayBeLibrary || constants.uses("io/gatling/");
    for (String text : constants.strings()) {
      Matcher expression = OLD_EXPRESSION.matcher(text);
      if (isOfPlan && expression.find()) print("expression", expression.group());
      if (FILE_PATH.matcher(text).matches()) print("path", text);
    }
  }

  private static void print(String kind, String value) {
    System.out.println(kind + "\t" + value);
  }
}
