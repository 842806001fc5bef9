package loadgate.hosts;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Gives host names other addresses in the whole JVM, whoever looks them up: -javaagent:hosts.jar=HOST/ADDRESS[,…]. The
 * address may itself be a name. A JVM where that is not possible does not start.
 */
public final class OverrideHosts {
  private static final Map<String, String> ADDRESSES = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  public static void premain(String hosts, Instrumentation jvm) throws ReflectiveOperationException {
    for (String entry : hosts.split(",")) {
      String[] parts = entry.split("/", 2);
      ADDRESSES.put(parts[0], parts[1]);
    }
    Set<Module> us = Set.of(OverrideHosts.class.getModule());
    jvm.redefineModule(
        InetAddress.class.getModule(), Set.of(), Map.of(), Map.of("java.net", us, "java.net.spi", us), Set.of(), Map.of());
    replaceResolver();
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
    String address = host == null ? null : ADDRESSES.get(host.endsWith(".") ? host.substring(0, host.length() - 1) : host);
    if (address == null) return call(others, method, args);
    List<InetAddress> found = new ArrayList<>();
    for (InetAddress each : addressesOf(address, others, method, args))
      found.add(InetAddress.getByAddress(host, each.getAddress()));
    return method.getReturnType() == Stream.class ? found.stream() : found.toArray(new InetAddress[0]);
  }

  /** A name is looked up as if nothing were overridden, so that two hosts can be exchanged. */
  private static List<InetAddress> addressesOf(String address, Object others, Method method, Object[] args)
      throws Throwable {
    if (address.contains(":") || address.matches("[0-9.]+")) return List.of(InetAddress.getByName(address));
    Object[] renamed = args.clone();
    renamed[0] = address;
    Object found = call(others, method, renamed);
    List<InetAddress> addresses = new ArrayList<>();
    if (found instanceof Stream) ((Stream<?>) found).forEach(each -> addresses.add((InetAddress) each));
    else addresses.addAll(List.of((InetAddress[]) found));
    return addresses;
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
