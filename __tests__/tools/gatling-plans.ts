/** Simulations for the tests; each sends its requests to `-Dport` on loopback. */

const IMPORTS = `import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.*;
import java.time.Duration;
`

/** A Java simulation of this name with these steps, as many users as `-Dthreads` at once. */
export function javaPlan(
  steps: string,
  { name = 'Plan', also = '', setUp = '', members = '' }: Record<string, string> = {}
): string {
  return `${IMPORTS}
public class ${name} extends Simulation {
  HttpProtocolBuilder target = http.baseUrl("http://" + System.getProperty("host", "127.0.0.1") + ":" + System.getProperty("port"));
  ${members}
  ScenarioBuilder users = scenario("users").exec(${steps});
  {
    setUp(users.injectOpen(atOnceUsers(Integer.getInteger("threads", 1)))${also}).protocols(target)${setUp};
  }
}
`
}

/** One request after the other until the run is ended from outside. */
export const ENDLESS = javaPlan(`during(Duration.ofSeconds(600)).on(http("home").get("/"))`)

export const SCALA_PLAN = `package shop.load

import io.gatling.core.Predef._
import io.gatling.http.Predef._
import scala.concurrent.duration._
import flood._

abstract class Base extends Simulation {
  val conf = httpConfigFlood.baseURL("http://127.0.0.1:" + System.getProperty("port"))
}

class OldSpelling extends Base {
  val path = "/"
  val users = scenario("scala").feed(csv("data/users.csv").circular)
    .exec(http("home").get(s"\${path}").asJSON.queryParam("user", "#{user}"))
  setUp(users.inject(rampUsers(Integer.getInteger("threads")) over (1 seconds))).protocols(conf)
    .assertions(global.failedRequests.count.lessThan(1))
}
`

export const KOTLIN_PLAN = `package shop.load

import io.gatling.javaapi.core.CoreDsl.*
import io.gatling.javaapi.core.Simulation
import io.gatling.javaapi.http.HttpDsl.*

class KotlinPlan : Simulation() {
  private val target = http.baseUrl("http://127.0.0.1:\${System.getProperty("port")}")
  private val users = scenario("kotlin").exec(http(name()).get("/"))

  init {
    setUp(users.injectOpen(atOnceUsers(Integer.getInteger("threads")))).protocols(target)
  }
}
`
