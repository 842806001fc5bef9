package loadgate.fetch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.eclipse.aether.resolution.ArtifactResult;

/**
 * How it went, as a file: what Maven prints depends on its version and on the user's options. The first line is {@code
 * fetched}, {@code missing} or {@code failed}; the others say what, one artifact per line. No file means that the extension
 * did not run.
 */
final class Outcome {
  private final Path file;

  Outcome(Path file) {
    this.file = file;
  }

  void writeFetched(int count) {
    write("fetched", Collections.singletonList(String.valueOf(count)));
  }

  void writeMissing(List<ArtifactResult> results) {
    List<String> lines = new ArrayList<>();
    for (ArtifactResult result : results) {
      if (!result.isResolved()) {
        lines.add(describe(result));
      }
    }
    write("missing", lines);
  }

  void writeFailed(IOException thrown) {
    // With the class: the message of a NoSuchFileException is only the path.
    write("failed", Collections.singletonList(oneLine(thrown.toString())));
  }

  /** Later exceptions are about other repositories of the user's settings; the last one asked is the most telling. */
  private static String describe(ArtifactResult result) {
    List<Exception> why = result.getExceptions();
    String artifact = String.valueOf(result.getRequest().getArtifact());
    return oneLine(why.isEmpty() ? artifact : String.valueOf(why.get(why.size() - 1).getMessage()));
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s+", " ");
  }

  private void write(String kind, List<String> details) {
    List<String> lines = new ArrayList<>();
    lines.add(kind);
    lines.addAll(details);
    try {
      Files.write(file, lines, StandardCharsets.UTF_8);
    } catch (IOException thrown) {
      throw new UncheckedIOException(thrown);
    }
  }
}
