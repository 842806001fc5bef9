import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import java.time.Duration;

/** Users of the demo shop who log in: by form, with a CSRF field and a session cookie, and by API, with a token. */
public class LoginSimulation extends Simulation {
  private final int threads = Integer.getInteger("threads", 5);
  private final Duration rampup = Duration.ofSeconds(Integer.getInteger("rampup", 1));
  private final Duration duration = Duration.ofSeconds(Integer.getInteger("duration", 10));
  private final Duration think = Duration.ofMillis(Integer.getInteger("think", 50));
  private final String host = System.getProperty("host", "127.0.0.1");
  private final int port = Integer.getInteger("port", 8080);

  // The password of the demo shop, which everyone knows. One that is secret has no default: -Dpassword=env:LOADGATE_PARAMETER_PASSWORD
  private final String user = System.getProperty("user_name", "ada");
  private final String password = System.getProperty("password", "open-sesame");

  private final HttpProtocolBuilder shop =
      http.baseUrl("http://" + host + ":" + port).disableCaching().disableFollowRedirect();

  private final ScenarioBuilder customers =
      scenario("Customers").during(duration).on(
          // A CSRF field: taken from the form, and sent with it.
          exec(http("login form").get("/login")
                  .check(css("input[name='csrf']", "value").saveAs("csrf")))
              .pause(think)
              // A login. Its redirect would be a request of its own in all figures.
              .exec(http("login").post("/login")
                  .formParam("csrf", "#{csrf}")
                  .formParam("user", user)
                  .formParam("password", password)
                  .check(status().is(303)))
              .pause(think)
              // A session cookie: Gatling keeps the cookies of each user.
              .exec(http("account").get("/account")
                  .check(css("h1").is("Welcome back, " + user)))
              .pause(think)
              // A token: taken from one reply, and sent with the next requests.
              .exec(http("token").post("/api/login")
                  .header("Content-Type", "application/json")
                  .body(StringBody("{\"user\": \"" + user + "\", \"password\": \"" + password + "\"}"))
                  .check(jsonPath("$.token").saveAs("token")))
              .pause(think)
              // Headers.
              .exec(http("orders").get("/api/orders")
                  .header("Accept", "application/json")
                  .header("Authorization", "Bearer #{token}"))
              .pause(think)
              // The next visit is that of a new user.
              .exec(flushSessionCookies()));

  public LoginSimulation() {
    setUp(customers.injectOpen(rampUsers(threads).during(rampup))).protocols(shop);
  }
}
