package loadgate.hosts;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Gives host names other addresses in the whole JVM, whoever looks them up: -javaagent:hosts.jar=HOST/ADDRESS[,…][;WORD]. A
 * JVM where that is not possible does not start. One that runs a program prints the word, as a sign that it has the addresses.
 */
public final class OverrideHosts {
  private static final Map<String, byte[]> ADDRESSES = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  public static void premain(String argument, Instrumentation jvm)
      throws ReflectiveOperationException, UnknownHostException {
    // It may be given by several variables of the environment.
    if (!ADDRESSES.isEmpty()) return;
    String[] hostsAndWord = argument.split(";", 2);
    for (String entry : hostsAndWord[0].split(",")) {
      String[] parts = entry.split("/", 2);
      ADDRESSES.put(parts[0], InetAddress.getByName(parts[1]).getAddress());
    }
    Set<Module> us = Set.of(OverrideHosts.class.getModule());
    jvm.redefineModule(
        InetAddress.class.getModule(), Set.of(), Map.of(), Map.of("java.net", us, "java.net.spi", us), Set.of(), Map.of());
    replaceResolver();
    // Not where a script only asks for the version of Java.
    if (hostsAndWord.length > 1 && System.getProperty("sun.java.command") != null) System.out.println(hostsAndWord[1]);
  }

  /** What all lookups go through: a resolver since Java 18, which is chosen at its first use, a name service before. */
  private static void replaceResolver() throws ReflectiveOperationException {
    Field field;
    Object others;
    try {
      field = opened("resolver");
      Method choose = InetAddress.class.getDeclaredMethod("resolver");
      choose.setAccessible(true);
      others = choose.invoke(null);
    } catch (NoSuchFieldException beforeJava18) {
      field = opened("nameService");
      others = field.get(null);
    }
    Class<?> type = field.getType();
    Object resolver = others;
    field.set(null, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
        (proxy, method, args) -> lookUp(resolver, method, args)));
  }

  private static Field opened(String name) throws NoSuchFieldException {
    Field field = InetAddress.class.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  private static Object lookUp(Object others, Method method, Object[] args) throws Throwable {
    String host = args != null && args.length > 0 && args[0] instanceof String ? (String) args[0] : null;
    byte[] address = host == null ? null : ADDRESSES.get(host.endsWith(".") ? host.substring(0, host.length() - 1) : host);
    if (address == null) return call(others, method, args);
    InetAddress found = InetAddress.getByAddress(host, address);
    return method.getReturnType() == Stream.class ? Stream.of(found) : new InetAddress[] {found};
  }

  private static Object call(Object others, Method method, Object[] args) throws Throwable {
    try {
      method.setAccessible(true);
      return method.invoke(others, args);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }
}
