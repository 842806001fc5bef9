package loadgate.gatling;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;

/** What went wrong, in the words of the exception and its causes, with the line of the plan. */
final class Failure {
  private Failure() {}

  static List<String> describe(Throwable thrown) {
    List<String> words = new ArrayList<>();
    String last = "";
    for (Throwable cause = thrown; cause != null && words.size() < 5; cause = cause.getCause()) {
      boolean isWrapper = cause instanceof InvocationTargetException || cause instanceof ExceptionInInitializerError;
      if (isWrapper && cause.getCause() != null) continue;
      String text = oneLine(cause.toString());
      // A cause is often repeated in the message of what it caused.
      if (!last.contains(text)) words.add(text + placeOf(cause));
      last = text;
    }
    return words;
  }

  static String oneLine(String text) {
    return text.replaceAll("\\s*[\\r\\n]+\\s*", " ");
  }

  /** The first line that is neither Java's nor Gatling's. */
  private static String placeOf(Throwable thrown) {
    for (StackTraceElement frame : thrown.getStackTrace()) {
      String name = frame.getClassName();
      if (name.matches("(?:java|javax|jdk|sun|scala|kotlin|io\\.gatling|io\\.netty|loadgate)\\..*")) continue;
      if (frame.getFileName() == null || frame.getLineNumber() < 0) return "";
      return " (" + frame.getFileName() + ":" + frame.getLineNumber() + ")";
    }
    return "";
  }
}
