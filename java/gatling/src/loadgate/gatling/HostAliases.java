package loadgate.gatling;

import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.protocol.Protocol;
import io.gatling.core.structure.PopulationBuilder;
import io.gatling.http.protocol.HttpProtocol;
import io.gatling.http.protocol.HttpProtocolDnsPart;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Locale;
import scala.collection.immutable.List;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;

/** Hosts that resolve to other addresses, by Gatling's own `hostNameAliases`: they hold for either of its resolvers. */
// Scala's maps do not say their types to Java.
@SuppressWarnings({"unchecked", "rawtypes"})
final class HostAliases {
  private Map<String, java.util.List<InetAddress>> addresses = Map$.MODULE$.empty();

  /** Each argument is HOST/ADDRESS. */
  static HostAliases read(String[] args, int from) throws UnknownHostException {
    HostAliases aliases = new HostAliases();
    for (int at = from; at < args.length; at++) {
      String[] parts = args[at].split("/", 2);
      String host = parts[0].toLowerCase(Locale.ROOT);
      aliases.addresses = aliases.addresses.updated(host, Arrays.asList(InetAddress.getAllByName(parts[1])));
    }
    return aliases;
  }

  boolean isEmpty() {
    return addresses.isEmpty();
  }

  /** A plan without an HTTP protocol uses the default one. */
  Map<Class<? extends Protocol>, Protocol> applyToGlobal(
      Map<Class<? extends Protocol>, Protocol> protocols, GatlingConfiguration configuration) {
    return protocols.contains(HttpProtocol.class)
        ? applyTo(protocols)
        : protocols.updated(HttpProtocol.class, withAliases(HttpProtocol.apply(configuration)));
  }

  List<PopulationBuilder> applyTo(List<PopulationBuilder> populations) {
    return populations.map(this::applyTo);
  }

  private PopulationBuilder applyTo(PopulationBuilder population) {
    return population.copy(
        population.scenarioBuilder(), population.injectionProfile(), applyTo(population.scenarioProtocols()),
        population.scenarioThrottleSteps(), population.pauseType(), population.children().map(this::applyTo),
        population.shard());
  }

  private Map<Class<? extends Protocol>, Protocol> applyTo(Map<Class<? extends Protocol>, Protocol> protocols) {
    Protocol http = protocols.contains(HttpProtocol.class) ? protocols.apply(HttpProtocol.class) : null;
    return http == null ? protocols : protocols.updated(HttpProtocol.class, withAliases((HttpProtocol) http));
  }

  private HttpProtocol withAliases(HttpProtocol http) {
    HttpProtocolDnsPart dns = http.dnsPart();
    HttpProtocolDnsPart aliased = new HttpProtocolDnsPart(
        dns.dnsNameResolution(), withOurs(dns.hostNameAliases()), dns.perUserNameResolution());
    return http.copy(
        http.baseUrls(), http.warmUpUrl(), http.enginePart(), http.requestPart(), http.responsePart(), http.wsPart(),
        http.ssePart(), http.proxyPart(), aliased);
  }

  /** The case of a name does not matter: a plan's own alias for one of our hosts goes, however it is spelt. */
  private Map<String, java.util.List<InetAddress>> withOurs(Map<String, java.util.List<InetAddress>> ofPlan) {
    Map others = (Map) ofPlan.filterNot(alias -> addresses.contains(alias._1().toLowerCase(Locale.ROOT)));
    return (Map) others.concat(addresses);
  }
}
