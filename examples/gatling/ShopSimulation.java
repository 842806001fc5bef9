import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import java.time.Duration;

/** Users of the demo shop, each of whom looks around and buys something, again and again. */
public class ShopSimulation extends Simulation {
  // The inputs threads, rampup and duration, and override-parameters such as -Dport=8080.
  private final int threads = Integer.getInteger("threads", 5);
  private final Duration rampup = Duration.ofSeconds(Integer.getInteger("rampup", 1));
  private final Duration duration = Duration.ofSeconds(Integer.getInteger("duration", 10));
  private final Duration think = Duration.ofMillis(Integer.getInteger("think", 50));
  private final String host = System.getProperty("host", "127.0.0.1");
  private final int port = Integer.getInteger("port", 8080);

  private final HttpProtocolBuilder shop =
      http.baseUrl("http://" + host + ":" + port).acceptHeader("text/html").disableCaching();

  private final ScenarioBuilder customers =
      scenario("Customers").during(duration).on(
          feed(csv("users.csv").circular())
              .exec(http("home").get("/").check(css("h1").is("Welcome to the shop")))
              .pause(think)
              .exec(http("search").get("/search").queryParam("q", "#{term}"))
              .pause(think)
              .exec(http("product").get("/products/#{product}"))
              .pause(think)
              .exec(http("checkout").post("/checkout").formParam("user", "#{user}")
                  .check(css("h1").is("Thank you")))
              .pause(think));

  public ShopSimulation() {
    setUp(customers.injectOpen(rampUsers(threads).during(rampup))).protocols(shop);
  }
}
