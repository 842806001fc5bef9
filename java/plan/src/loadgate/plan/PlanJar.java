package loadgate.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** The classes of a plan as one file, which can be copied to other nodes. */
public final class PlanJar {
  private PlanJar() {}

  public static void write(Path classes, Path jar) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(classes)) {
      files = all.filter(Files::isRegularFile).sorted().collect(Collectors.toList());
    }
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      for (Path file : files) {
        out.putNextEntry(new ZipEntry(classes.relativize(file).toString().replace('\\', '/')));
        Files.copy(file, out);
        out.closeEntry();
      }
    }
  }
}
