package loadgate.gatling;

import io.gatling.http.client.HttpListener;
import io.gatling.http.client.resolver.InetAddressNameResolver;
import io.gatling.http.util.InetAddresses$;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.util.List;
import java.util.TreeMap;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Map;

/** Resolves some hosts by a map, whatever the case of their names, and the others as usual. */
@SuppressWarnings("try")
public final class AliasResolver implements InetAddressNameResolver {
  private final TreeMap<String, List<InetAddress>> aliases = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private final InetAddressNameResolver others;

  public AliasResolver(Map<String, List<InetAddress>> aliases, InetAddressNameResolver others) {
    this.others = others;
    for (Iterator<Tuple2<String, List<InetAddress>>> each = aliases.iterator(); each.hasNext();) {
      Tuple2<String, List<InetAddress>> alias = each.next();
      this.aliases.put(alias._1(), inOrder(alias._2()));
    }
  }

  @Override
  public Future<List<InetAddress>> resolveAll(
      String host, Promise<List<InetAddress>> promise, HttpListener listener) {
    List<InetAddress> addresses = aliases.get(host);
    return addresses == null ? others.resolveAll(host, promise, listener) : promise.setSuccess(addresses);
  }

  @Override
  public void close() throws Exception {
    others.close();
  }

  /** As Gatling does it. */
  private static List<InetAddress> inOrder(List<InetAddress> addresses) {
    return InetAddresses$.MODULE$.shuffleInetAddresses(
        addresses, NetUtil.isIpV4StackPreferred(), NetUtil.isIpV6AddressesPreferred());
  }
}
