package loadgate.gatling;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The constants of a compiled class. The source would need three parsers to tell Gatling's `${…}` from an
 * interpolation of Scala or Kotlin; in a class file interpolations are gone, and jars have no source.
 */
final class ClassConstants {
  private static final int UTF8 = 1;
  private static final int CLASS = 7;
  private static final int STRING = 8;

  private final Map<Integer, String> texts = new HashMap<>();
  private final List<Integer> literals = new ArrayList<>();
  private final Map<Integer, Integer> classes = new HashMap<>();
  private final int modifiers;
  private final int superclass;

  ClassConstants(byte[] classFile) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile));
    in.readInt();
    in.readInt();
    int count = in.readUnsignedShort();
    for (int index = 1; index < count; index++) {
      int tag = in.readUnsignedByte();
      if (tag == UTF8) texts.put(index, in.readUTF());
      else if (tag == CLASS) classes.put(index, in.readUnsignedShort());
      else if (tag == STRING) literals.add(in.readUnsignedShort());
      else in.readFully(new byte[sizeOf(tag)]);
      // A long or a double takes two places.
      if (tag == 5 || tag == 6) index++;
    }
    modifiers = in.readUnsignedShort();
    in.readUnsignedShort();
    superclass = in.readUnsignedShort();
  }

  /** As `java.lang.reflect.Modifier` knows them. */
  int modifiers() {
    return modifiers;
  }

  /** The name of the class that it extends, with slashes. */
  String superclass() {
    return texts.getOrDefault(classes.get(superclass), "");
  }

  /** Its string literals. */
  List<String> strings() {
    List<String> strings = new ArrayList<>();
    for (int literal : literals) strings.add(texts.get(literal));
    return strings;
  }

  /** Whether it uses a class whose name, with slashes, starts so. */
  boolean uses(String prefix) {
    return texts.values().stream().anyMatch(text -> text.startsWith(prefix) || text.contains("L" + prefix));
  }

  private static int sizeOf(int tag) throws IOException {
    switch (tag) {
      case 16: case 19: case 20:
        return 2;
      case 15:
        return 3;
      case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18:
        return 4;
      case 5: case 6:
        return 8;
      default:
        throw new IOException("unknown constant " + tag);
    }
  }
}
