package io.gatling.http.resolver;

import io.gatling.http.client.resolver.InetAddressNameResolver;
import java.net.InetAddress;
import java.util.List;
import loadgate.gatling.AliasResolver;
import scala.collection.immutable.Map;

/**
 * In place of Gatling's own, which is later on the class path: that one takes `SHOP.example` for another host than
 * `shop.example`, so that the load would go to the real one. Gatling copies the aliases into a map of its own kind, and has
 * no other way to tell it how to compare them.
 */
public final class AliasesAwareNameResolver$ {
  public static final AliasesAwareNameResolver$ MODULE$ = new AliasesAwareNameResolver$();

  private AliasesAwareNameResolver$() {}

  public InetAddressNameResolver apply(
      Map<String, List<InetAddress>> aliases, InetAddressNameResolver resolver) {
    return aliases.isEmpty() ? resolver : new AliasResolver(aliases, resolver);
  }
}
